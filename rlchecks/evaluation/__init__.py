"""Held-out evaluation: ask checkpoints at OpenAI-compatible endpoints, and let a judge of the user's choice score.

    questions -> answers (one log a model) -> scores (one or several judges) -> ``DIR/NAME.eval``

Inspect AI (extra ``inspect``) calls the models, limits and repeats calls, and writes the logs; it is loaded only when
an evaluation runs.
"""
