"""Where a promoted checkpoint is recorded: a pointer to it, and a ledger that is only ever appended to.

``promoted.json`` says what is promoted now and is replaced at once; ``ledger.jsonl`` has one line per promotion, the
reason of an override for ever among them. The line is written first, and the pointer follows from the last line, so
that a crash between the two is repaired by the next promotion. A lock file lets one process at a time write.
"""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from rlchecks import ledger
from rlchecks.checkpoint import Checkpoint
from rlchecks.errors import InputError, UsageError

_GATE_AGAIN = "gate the run again"


class Promotion(NamedTuple):
    """What a promotion did: the pointer, the ledger, and whether anything changed."""

    pointer: Path
    ledger: Path
    changed: bool


def promote(
    target_dir: str | Path,
    document: Mapping[str, Any],
    checkpoint: Checkpoint | None,
    *,
    override: str | None = None,
    who: str | None = None,
) -> Promotion:
    """Record that a checkpoint is promoted.

    The same promotion again (same content of the verdict, same files, same reason) changes nothing while it is the
    last one. After another one it is a return to the earlier checkpoint, and gets its own line.

    Args:
        target_dir: directory of pointer and ledger; it is made if absent.
        document: the verdict, as in verdict.json.
        checkpoint: the candidate's files as they are now.
        override: why to promote although the verdict does not; it is recorded if it does not. It makes up for the
            decision only.
        who: who promotes; the user's name by default.

    Returns:
        The paths, and whether anything changed.

    Raises:
        UsageError: if the verdict does not promote and there is no reason to override it; if there is no checkpoint,
            or it is not the one that was judged; if the directory cannot be written.
        InputError: if the verdict is incomplete or was edited, or the ledger is damaged or missing.
    """
    entry = _verdict_facts(document)
    promotes = entry["decision"] == "PROMOTE"
    reason = None if promotes else (override or "").strip() or None
    if not promotes and reason is None:
        raise UsageError(
            f"The verdict {entry['verdict_id']} is {entry['decision']}, so nothing was promoted; to promote it all the "
            "same give a reason with --override."
        )
    entry |= _checkpoint_facts(document, checkpoint)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    entry |= {"version": ledger.VERSION, "at": now, "who": who or user(), "override": reason}
    target = Path(target_dir)
    try:
        target.mkdir(parents=True, exist_ok=True)
        with ledger.locked(target / ".promotion.lock"):
            return _record(target / "promoted.json", target / "ledger.jsonl", entry)
    except OSError as error:
        raise UsageError(f"{target}: the promotion cannot be recorded here ({error.strerror or error}).") from error


def _record(pointer: Path, lines: Path, entry: ledger.Entry) -> Promotion:
    entries = ledger.read_ledger(lines)
    present = ledger.read_pointer(pointer)
    if present is not None and present not in entries:
        raise InputError(
            "the promotion that promoted.json names is not in the ledger", path=lines, todo="restore the ledger"
        )
    if not entries or _key(entries[-1]) != _key(entry):
        ledger.append(lines, entry)
        entries.append(entry)
    if present == entries[-1]:
        return Promotion(pointer, lines, False)
    ledger.replace(pointer, entries[-1])
    return Promotion(pointer, lines, True)


def _verdict_facts(document: Mapping[str, Any]) -> ledger.Entry:
    """Return what the ledger keeps of a verdict, if it is whole and was not edited."""
    from rlchecks.verdict import EXIT_CODES, VERSION, content_sha256

    try:
        facts = {
            "decision": document["decision"],
            "run_id": document["run"]["id"],
            "candidate": document["candidate"],
            "verdict_id": document["id"],
            "verdict_sha256": content_sha256(document),
        }
        known = document["version"] == VERSION and facts["decision"] in EXIT_CODES
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(f"the verdict is incomplete ({error!r})", todo=_GATE_AGAIN) from error
    if not known or not all(isinstance(value, str) and value for value in facts.values()):
        raise InputError("the verdict lacks a decision, a candidate or a run", todo=_GATE_AGAIN)
    if facts["verdict_id"] != facts["verdict_sha256"][:16]:
        raise InputError("the verdict was changed after it was made, its id does not fit", todo=_GATE_AGAIN)
    return facts


def _checkpoint_facts(document: Mapping[str, Any], checkpoint: Checkpoint | None) -> ledger.Entry:
    """Return what the ledger keeps of the checkpoint, if it is the one that the verdict is about."""
    if checkpoint is None:
        raise UsageError("The candidate's files are not known, so nothing was promoted; name them with --checkpoint.")
    judged = document.get("checkpoint")
    judged_hash = judged.get("sha256") if isinstance(judged, Mapping) else None
    if judged_hash is None:
        raise UsageError(
            "The verdict does not say which files it is about, so nothing was promoted; gate again with --checkpoint."
        )
    if judged_hash != checkpoint.sha256:
        raise UsageError(
            f"The checkpoint {checkpoint.uri} is not the one that was judged: its files have SHA-256 "
            f"{checkpoint.sha256}, the verdict's {judged_hash}; gate it first."
        )
    return {"checkpoint_uri": checkpoint.uri, "candidate_sha256": checkpoint.sha256}


def _key(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return entry["verdict_sha256"], entry["candidate_sha256"], entry["override"]


def user() -> str:
    """Name of the user who runs this, ``unknown`` where the system does not tell."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"
