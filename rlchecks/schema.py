"""The Arrow schemas of the archive's tables, written down once.

Every table carries ``run_id``. A null means "not logged"; a NaN or an infinity means that the framework logged
just that. Both survive the archive, which is why tables are built with Arrow and never through pandas.
"""

from __future__ import annotations

import pyarrow as pa

from rlchecks.metrics import METRICS

VERSION = 1
"""Version of the schemas; stands in the metadata of every Parquet file."""

_NUMBERS = pa.map_(pa.string(), pa.float64())
_TEXTS = pa.map_(pa.string(), pa.string())


def _field(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=name not in _REQUIRED)


_REQUIRED = frozenset({"run_id", "split", "step"})

STEPS = pa.schema(
    [
        _field("run_id", pa.string()),
        _field("split", pa.string()),
        _field("step", pa.int64()),
        _field("epoch", pa.float64()),
        *(_field(name, pa.float64()) for name in METRICS),
        _field("extra", _NUMBERS),
        _field("extra_text", _TEXTS),
    ]
)
"""One row per run, split and step. ``split``: ``train``, ``eval`` or ``summary``. ``extra``: other numbers by their
logged key, and the reward functions as ``reward/<function>``; ``extra_text``: what is no double, as text."""

COMPLETIONS = pa.schema(
    [
        _field("run_id", pa.string()),
        _field("split", pa.string()),
        _field("step", pa.int64()),
        _field("prompt", pa.string()),
        _field("completion", pa.string()),
        _field("advantage", pa.float64()),
        _field("rewards", _NUMBERS),
        _field("extra_text", _TEXTS),
    ]
)
"""One row per logged answer. ``rewards``: reward function to raw score; answers of one prompt share its text."""

VALIDATION = pa.schema(
    [
        _field("run_id", pa.string()),
        _field("step", pa.int64()),
        _field("question_id", pa.string()),
        _field("grader", pa.string()),
        _field("score", pa.float64()),
    ]
)
"""Validation checks during training. A null ``question_id`` is the mean over all questions of that check; a null
``grader`` is the run's total reward."""

EVALUATIONS = pa.schema(
    [
        _field("run_id", pa.string()),
        pa.field("question_id", pa.string()),
        pa.field("checkpoint", pa.string()),
        pa.field("judge", pa.string()),
        pa.field("score", pa.float64()),
        pa.field("step", pa.int64()),
        pa.field("epoch", pa.int64()),
        pa.field("decoding", pa.string()),
        pa.field("answer", pa.string()),
        pa.field("prompt", pa.string()),
        pa.field("target", pa.string()),
        pa.field("category", pa.string()),
        pa.field("cluster", pa.string()),
        pa.field("source_sha256", pa.string()),
    ]
)
"""One row per question, checkpoint, judge, decoding and repeat (``epoch``). A null or NaN ``score`` is unanswered or
unscored, never zero."""

_FILE = pa.struct([("path", pa.string()), ("sha256", pa.string()), ("bytes", pa.int64())])
_TABLE = pa.struct([("name", pa.string()), ("generation", pa.string()), ("sha256", pa.string()), ("rows", pa.int64())])

RUNS = pa.schema(
    [
        _field("run_id", pa.string()),
        pa.field("name", pa.string()),
        pa.field("source", pa.string()),
        pa.field("framework", pa.string()),
        pa.field("framework_version", pa.string()),
        pa.field("first_step", pa.int64()),
        pa.field("last_step", pa.int64()),
        pa.field("n_steps", pa.int64()),
        pa.field("planned_steps", pa.int64()),
        pa.field("repeated_steps", pa.int64()),
        pa.field("graders", pa.list_(pa.string())),
        pa.field("facts", _TEXTS),
        pa.field("inputs", pa.list_(_FILE)),
        pa.field("unmapped", pa.list_(pa.string())),
        pa.field("warnings", pa.list_(pa.string())),
        pa.field("tables", pa.list_(_TABLE)),
        pa.field("content_sha256", pa.string()),
        pa.field("ingested_at", pa.timestamp("us", tz="UTC")),
    ]
)
"""One row per run: facts, provenance, reader warnings, and the files of the other tables that belong to it."""

VERDICTS = pa.schema(
    [
        _field("run_id", pa.string()),
        pa.field("id", pa.string()),
        pa.field("created_at", pa.timestamp("us", tz="UTC")),
        pa.field("decision", pa.string()),
        pa.field("family", pa.string()),
        pa.field("baseline", pa.string()),
        pa.field("candidate", pa.string()),
        pa.field("candidate_identity", pa.string()),
        pa.field("answers_identity", pa.string()),
        pa.field("heldout_set", pa.string()),
        pa.field("heldout_sketch", pa.string()),
        pa.field("other_answers", pa.list_(pa.string())),
        pa.field("choose_on", pa.float64()),
        pa.field("document_sha256", pa.string()),
        pa.field("document", pa.string()),
    ]
)
"""One immutable row per verdict; ``document`` is its verdict.json. ``candidate_identity`` is the checkpoint's hash, or
else the candidate's name with the hash of its answers, which is ``answers_identity``; ``heldout_set`` identifies the
held-out questions, and by ``heldout_sketch`` similar sets are recognised. ``other_answers`` are the hashes of the
answers of candidates that were set aside in the same call, on the share ``choose_on`` of the questions or (null) on
all. Releases that did not write these three left them null."""
