"""lighteval details: ``details/<model>/<date>/details_<task>_<date>.parquet``.

Format: ``src/lighteval/logging/evaluation_tracker.py`` and ``info_loggers.py`` (``DetailsLogger.Detail``: ``doc``,
``model_response``, ``metric``) of huggingface/lighteval, as of 0.10 to 0.13.
"""

from __future__ import annotations

from rlchecks.heldout.harness.log import Answer, EvalLog, JudgeFacts, Unscored
from rlchecks.heldout.harness.marks import name, number, unscored
from rlchecks.heldout.harness.parquet_rows import parquet_names, parquet_rows
from rlchecks.heldout.harness.shape import fingerprint, id_of, items, mapping
from rlchecks.heldout.harness.source import Source
from rlchecks.heldout.names import shown

_COLUMNS = ("doc", "metric", "model_response")


class LightevalFormat:
    """Reads lighteval details."""

    name = "lighteval"

    def named(self, name: str) -> bool:
        """Details, by the name that lighteval gives them."""
        return name.startswith("details_") and name.endswith(".parquet")

    def detect(self, source: Source) -> bool:
        """Parquet with ``doc``, ``metric`` and ``model_response``."""
        return source.kind == "parquet" and set(_COLUMNS) <= set(parquet_names(source))

    def read(self, source: Source) -> EvalLog:
        """Read the details; each metric is a judge.

        Raises:
            InputError: the file is damaged, or there is no metric.
        """
        wanted = ("doc.id", "doc.query", "doc.task_name", "metric", "model_response.text")
        rows = parquet_rows(source, wanted)
        # Ids are not filled in by every task.
        ids = [name(mapping(row["doc"]).get("id")) for row in rows]
        reliable = None not in ids and len(set(ids)) == len(ids)
        odd = Unscored()
        answers: list[Answer] = []
        for index, row in enumerate(rows):
            doc, texts = mapping(row["doc"]), items(mapping(row["model_response"]).get("text"))
            query = doc.get("query")
            task = name(doc.get("task_name")) or "task"
            own = ids[index] if reliable else id_of(query) if isinstance(query, str) else None
            if own is None:
                raise source.error("the row has neither an id nor a query", f"row {index + 1}", "evaluate again")
            answer = Answer(
                f"{task}/{own}",
                "",
                None,
                f"row {index + 1}",
                answer=texts[0] if len(texts) == 1 else list(texts) or None,
                prompt=query,
                category=task,
                same=fingerprint(query) if isinstance(query, str) else None,
            )
            for metric, value in mapping(row["metric"]).items():
                score = number(value)
                if score is None and not unscored(value):
                    odd.add(shown(metric), type(value).__name__)
                answers.append(answer._replace(judge=metric, score=score))
        if not answers:
            raise source.error("the details hold no metric", todo="evaluate with --save-details")
        judges = tuple(JudgeFacts(judge) for judge in dict.fromkeys(answer.judge for answer in answers))
        said = tuple(f"{source.path.name}: {sentence}" for sentence in odd.warnings())
        return EvalLog(self.name, answers, _model(source), judges=judges, warnings=said)


def _model(source: Source) -> str | None:
    """The directories between ``details`` and the one of the date are the model's name."""
    parts = source.path.absolute().parts
    if "details" not in parts[:-2]:
        return None
    start = len(parts) - 1 - parts[::-1].index("details")
    return "/".join(parts[start + 1 : -2]) or None
