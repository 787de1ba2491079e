"""The Parquet archive of runs, evaluations, signals and verdicts."""

from rlchecks.archive.archive import Archive, Written
from rlchecks.archive.reading import Refusal

__all__ = ["Archive", "Refusal", "Written"]
