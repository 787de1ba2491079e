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
        checkpoint: where the candidate's files are, if not in the run's directory.
        profile: profile of the healthy ranges.
        graders: declared training graders, ``NAME[:RANGE[:DIRECTION]]``.
        judges: judges that decide or advise, ``NAME[:RANGE[:DIRECTION|advisory]]``.
        decoding: decoding that will be deployed.
        margin: loss that is acceptable, as a fraction of the judge's range.
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
    checkpoint: str | None = None
    profile: str = PROFILE
    graders: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    decoding: str | None = None
    margin: float = 0.0
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
            UsageError: a text is empty; an override without anything to promote.
        """
        super().__post_init__()
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
