"""What a user asks of a flow: plain values, so that they survive a command line, a form and a worker process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from rlchecks.errors import UsageError

ARCHIVE = "archive"
REPORTS = "reports"
PROFILE = "chat"


class _Checked:
    """Refuses empty texts: an unset variable in a script must not mean the current directory."""

    def __post_init__(self) -> None:
        """Check every field.

        Raises:
            UsageError: a text, or one of several, is empty.
        """
        for field_ in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field_.name)
            texts = [value] if isinstance(value, str) else value if isinstance(value, tuple) else []
            if any(isinstance(text, str) and not text.strip() for text in texts):
                raise UsageError(f"{field_.name.replace('_', '-')} is empty; give a value or leave it out.")


@dataclass(frozen=True)
class GateRequest(_Checked):
    """One promotion to decide.

    Attributes:
        run: path to a run's log, or the id of an archived run.
        heldout: files with held-out rows or evaluation logs, or directories of them; each also as ``NAME=PATH``, for
            the answers of the checkpoint NAME.
        baseline: checkpoint of the starting model; None: the earliest.
        candidate: checkpoint to be promoted; None: the latest.
        candidates: several checkpoints, in place of ``candidate``, of which the best is judged.
        choose_on: share of the questions on which the best is chosen, the others decide; None: all do both.
        checkpoint: where the candidate's files are, if not in the run's directory.
        profile: profile of the healthy ranges.
        graders: declared training graders, ``NAME[:RANGE[:DIRECTION]]``.
        judges: judges that decide or advise, as :func:`rlchecks.heldout.scorer.parse_scorer` has it.
        decoding: decoding that will be deployed.
        margin: loss that is acceptable, as a fraction of the judge's range.
        training_prompts: files with all training prompts, or directories of them.
        near_copies: whether to look for training prompts that differ from a question in a few words too.
        family: name of the line of runs whose candidates share the held-out questions; None: the run's id.
        override: reason for promoting against the verdict.
        promote: directory in which a promotion is recorded.
        run_id: id that the run shall have in the archive.
        columns: the log's own column to canonical metric.
        heldout_columns: the held-out results' own column to what it is.
        archive: the archive.
        reports: directory of the reports.
        expectations: directory of the user's own suites.
        command: the command line to repeat this, for the report.
    """

    run: str
    heldout: tuple[str, ...]
    baseline: str | None = None
    candidate: str | None = None
    candidates: tuple[str, ...] = ()
    choose_on: float | None = None
    checkpoint: str | None = None
    profile: str = PROFILE
    graders: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    decoding: str | None = None
    margin: float = 0.0
    training_prompts: tuple[str, ...] = ()
    near_copies: bool = False
    family: str | None = None
    override: str | None = None
    promote: str | None = None
    run_id: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    heldout_columns: Mapping[str, str] = field(default_factory=dict)
    archive: str = ARCHIVE
    reports: str = REPORTS
    expectations: str | None = None
    command: str | None = None

    def __post_init__(self) -> None:
        """Check the fields, and what only together makes sense.

        Raises:
            UsageError: a text is empty; an override without anything to promote; what only several candidates have.
        """
        super().__post_init__()
        if self.candidates and (self.candidate is not None or len(self.candidates) < 2):
            raise UsageError("One candidate is a candidate, several are candidates; give the one or the others.")
        if self.choose_on is not None and not self.candidates:
            raise UsageError("--choose-on SHARE chooses among several candidates; name each with --candidate.")
        if self.choose_on is not None and not 0.0 < self.choose_on < 1.0:
            raise UsageError(f"--choose-on lies between 0 and 1, such as .5; got {self.choose_on:g}.")
        if self.candidates and self.checkpoint is not None:
            raise UsageError(
                "--checkpoint names the files of one candidate; with several, each must be a directory in RUN, or be "
                "gated alone."
            )
        if self.override is not None and self.promote is None:
            raise UsageError("--override is a reason to promote against the verdict; say where with --promote DIR.")


@dataclass(frozen=True)
class IngestRequest(_Checked):
    """Logs to be archived.

    Attributes:
        paths: files, run directories, or folders that hold runs somewhere.
        archive: the archive.
        run_id: id for a single run.
        columns: the log's own column to canonical metric.
        workers: processes that read; None: one a core.
    """

    paths: tuple[str, ...]
    archive: str = ARCHIVE
    run_id: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    workers: int | None = None


@dataclass(frozen=True)
class AuditRequest(_Checked):
    """Runs to be checked for health.

    Attributes:
        paths: what to ingest first and then audit; empty: every run of the archive.
        archive: the archive.
        reports: directory of the reports.
        profile: profile of the healthy ranges.
        expectations: directory of the user's own suites.
        columns: the log's own column to canonical metric.
        workers: processes that read and compute; None: one a core.
    """

    paths: tuple[str, ...] = ()
    archive: str = ARCHIVE
    reports: str = REPORTS
    profile: str = PROFILE
    expectations: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    workers: int | None = None
