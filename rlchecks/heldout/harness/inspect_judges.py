"""Who judged in an Inspect log: a rule, or a model, and whether that is the evaluated model itself.

A model-graded scorer asks the model of the role ``grader``, or one that it was given; where neither is bound it asks
the evaluated model (``scorer/_model.py``). Every call of a model is an event of the sample, within the span of the
scorer that made it (``log/_samples.py``, ``event/_span.py``), so that is what counts; where a log keeps no events
of a scorer, the header's roles and options have to do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from rlchecks.heldout.harness.inspect_ours import with_range
from rlchecks.heldout.harness.log import Answer, JudgeFacts, Object
from rlchecks.heldout.harness.marks import name
from rlchecks.heldout.harness.shape import items, mapping
from rlchecks.heldout.harness.source import Source
from rlchecks.heldout.names import labels

_GRADED = ("model_graded_qa", "model_graded_fact")
_FAILS = "bind another model to the role, as in --model-role grader=openai/gpt-5, and score again"


class InspectJudges:
    """The judges of one log.

    Args:
        spec: the ``eval`` of the log.
    """

    def __init__(self, spec: Object) -> None:
        self._model = name(spec.get("model"))
        self._base_url = spec.get("model_base_url")
        self._grader = spec.get("model_roles")
        self._options = {
            str(scorer["name"]): mapping(scorer.get("options"))
            for scorer in items(spec.get("scorers"))
            if isinstance(scorer, dict) and "name" in scorer
        }
        self._seen: dict[str, set[str]] = {}
        self._watched: set[str] = set()
        self._names: dict[str, str] = {}

    def look(self, sample: Object) -> None:
        """Note which models the scorers of a sample asked."""
        spans: dict[object, str] = {}
        inside: list[str] = []
        for event in items(sample.get("events")):
            if not isinstance(event, dict):
                continue
            kind = event.get("event")
            if kind == "span_begin":
                if event.get("type") == "scorer":
                    spans[event.get("id")] = str(event.get("name"))
                    self._watched.add(str(event.get("name")))
                elif event.get("parent_id") in spans:
                    spans[event.get("id")] = spans[event.get("parent_id")]
            elif kind == "step" and event.get("type") == "scorer":  # logs before spans
                if event.get("action") == "begin":
                    inside.append(str(event.get("name")))
                    self._watched.add(inside[-1])
                elif inside:
                    inside.pop()
            elif kind == "model":
                scorer = spans.get(event.get("span_id")) or (inside[-1] if inside else None)
                asked = name(event.get("model"))
                if scorer is not None and asked is not None:
                    self._seen.setdefault(scorer, set()).add(asked)

    def settle(self, answers: Iterable[Answer], source: Source) -> tuple[list[Answer], list[str]]:
        """Name every judge with the model that judges, and leave out the evaluated model's judgement of itself.

        Returns:
            The answers that count, and sentences on those that do not.

        Raises:
            InputError: no judge is left.
        """
        answers = list(answers)
        judges = sorted({answer.judge for answer in answers})
        itself = [judge for judge in judges if self._is_itself(judge)]
        if itself and len(itself) == len(judges):
            problem = f"the evaluated model judged itself ({labels(itself)}), so its scores are no evidence"
            raise source.error(problem, todo=_FAILS)
        for judge in judges:
            models = "+".join(sorted(self._models(judge)))
            self._names[judge] = f"{judge}@{models}" if models else judge
        kept = [answer._replace(judge=self._names[answer.judge]) for answer in answers if answer.judge not in itself]
        said = [
            f"the evaluated model judged itself ({labels([judge])}); these scores are left out, {_FAILS}."
            for judge in itself
        ]
        return kept, said

    def facts(self, answers: Iterable[Answer]) -> tuple[JudgeFacts, ...]:
        """What the log tells of each judge that is left."""
        used = {answer.judge for answer in answers}
        return tuple(
            with_range(
                JudgeFacts(
                    called,
                    kind="model" if self._models(judge) else "rule" if self._scorer(judge) in self._watched else None,
                    models=tuple(sorted(self._models(judge))),
                    settings=self._settings(judge),
                ),
                self._options.get(judge, {}),
            )
            for judge, called in self._names.items()
            if called in used
        )

    def _settings(self, judge: str) -> str | None:
        options = self._options.get(judge.split("/")[0])
        if options is None:
            return None
        return json.dumps({key: value for key, value in options.items() if key != "model"}, sort_keys=True)

    def _scorer(self, judge: str) -> str:
        """The scorer of a judge, which may be a part of its score."""
        return judge if judge in self._watched or "/" not in judge else judge.rsplit("/", 1)[0]

    def _models(self, judge: str) -> set[str]:
        scorer = self._scorer(judge)
        if scorer in self._watched:
            return self._seen.get(scorer, set())
        if not scorer.startswith(_GRADED):
            return set()
        given = self._options.get(scorer, {}).get("model")
        found = {model for model in map(name, [given, *items(given)]) if model is not None}
        return found or self._bound() or ({self._model} if self._model else set())

    def _bound(self) -> set[str]:
        grader = mapping(self._grader).get("grader")
        roles = grader if isinstance(grader, list) else [grader]
        return {model for model in (name(mapping(role).get("model")) for role in roles) if model is not None}

    def _is_itself(self, judge: str) -> bool:
        if self._model is None or self._model not in self._models(judge):
            return False
        # One name at two addresses is two models, as where every server calls its model "default".
        grader = mapping(self._grader).get("grader")
        roles = [mapping(role) for role in (grader if isinstance(grader, list) else [grader])]
        same = [role.get("base_url") for role in roles if name(role.get("model")) == self._model]
        return not same or any(not base_url or base_url == self._base_url for base_url in same)
