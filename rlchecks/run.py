"""What a reader returns: one run, as facts and Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from rlchecks.schema import COMPLETIONS, VALIDATION


@dataclass(frozen=True)
class InputFile:
    """A file that was read: path as given, SHA-256 of its bytes, size in bytes."""

    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class RunLog:
    """One training run as its log tells it.

    Attributes:
        run_id: the run's id; unique in an archive without regard to case.
        name: the name for people (directory or file name, or the tracker's name).
        source: the path that was read.
        framework: key of the framework in ``aliases.toml``, such as ``trl_grpo``, or ``table``.
        steps: table with :data:`rlchecks.schema.STEPS`, in the order of split and step.
        completions: logged answers, :data:`rlchecks.schema.COMPLETIONS`; empty if none were logged.
        validation: validation checks, :data:`rlchecks.schema.VALIDATION`; empty if none were made.
        framework_version: if the run's directory tells it.
        planned_steps: steps the run was configured for, if known.
        repeated_steps: logged rows that repeat an earlier step (a resume); the last one was kept.
        graders: names of the training graders (reward functions), if the log names them.
        facts: other facts as text: ``beta``, ``logging_steps``, ``max_completion_length``, ``num_generations``, ...;
            ``base_model``, the model that the training started from, and ``reward_model``, one that graded it. An
            inferred fact has the suffix `` (inferred)``. About the metrics, as
            :func:`rlchecks.readers.framework_facts.framework_facts` collects them: ``reward_std_semantics``
            (``within_group``, ``within_group_median``, ``batch``, ``unknown``), ``kl_semantics``
            (``sum_per_sequence``, only where it is no mean per token), ``metrics_not_loggable`` (canonical names that
            this framework and version cannot log), ``metrics_switched_off`` (logged as exactly 0 throughout, which is
            no measurement) and ``metrics_unreadable``, with commas between the names, and ``metrics_derived``, such
            as ``mean_length = a / b``, with semicolons.
        inputs: every file that was read, with its hash.
        unmapped: logged keys without a canonical name; their values are kept in ``extra``.
        warnings: what a person should know about the reading, one sentence each.
    """

    run_id: str
    name: str
    source: str
    framework: str
    steps: pa.Table
    completions: pa.Table = field(default_factory=COMPLETIONS.empty_table)
    validation: pa.Table = field(default_factory=VALIDATION.empty_table)
    framework_version: str | None = None
    planned_steps: int | None = None
    repeated_steps: int = 0
    graders: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[InputFile, ...] = ()
    unmapped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def training_steps(self) -> pa.Table:
        """The rows of ``steps`` with split ``train``."""
        return rows_of(self.steps, "train")


def rows_of(steps: pa.Table, split: str) -> pa.Table:
    """Take the rows of one split; where they stand together, as in a run log, no value is copied."""
    wanted = pc.equal(steps["split"], split)
    count = pc.sum(wanted).as_py() or 0
    together = steps.slice(max(0, pc.index(wanted, True).as_py()), count)
    return together if pc.all(pc.equal(together["split"], split)).as_py() else steps.filter(wanted)
