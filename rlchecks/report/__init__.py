"""The verdict for people: an HTML page, the terminal, and markdown for the orchestrator.

All three read the same ``verdict.json`` document. Names, answers and messages in it come from logs and are hostile
text: :mod:`rlchecks.report.inert` cleans every one of them before it is shown.
"""
