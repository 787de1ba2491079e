"""What can happen in a run, drawn from the ranges that real runs show; importing this registers all of it."""

from benchmarks.detection.scenarios import ends, late, lookalikes, scores, several, sick, sound, validation

__all__ = ["ends", "late", "lookalikes", "scores", "several", "sick", "sound", "validation"]
