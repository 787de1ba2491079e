"""Where a verdict goes: the archive, the report's files, the promotion record."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rlchecks import verdict
from rlchecks.archive import Archive
from rlchecks.archive.escape import escape
from rlchecks.checkpoint import Checkpoint
from rlchecks.errors import InputError
from rlchecks.promotion import Promotion, promote, user
from rlchecks.requests import GateRequest
from rlchecks.run import RunLog


@dataclass(frozen=True)
class GateResult:
    """What a gate leaves.

    Attributes:
        document: verdict.json.
        html: the page.
        json: the document's file.
        promotion: the promotion record, if one was asked for and allowed.
    """

    document: dict[str, Any]
    html: Path
    json: Path
    promotion: Promotion | None = None


def archive_verdict(document: Mapping[str, Any], archive: str) -> None:
    """Write a verdict to the archive, once and for all; the same verdict again changes nothing."""
    looks = (
        "family",
        "candidate_identity",
        "answers_identity",
        "other_answers",
        "choose_on",
        "heldout_set",
        "heldout_sketch",
    )
    Archive(archive).write_verdict(
        {
            "run_id": document["run"]["id"],
            "id": document["id"],
            "created_at": datetime.fromisoformat(document["created_at"]),
            "decision": document["decision"],
            "baseline": document["baseline"],
            "candidate": document["candidate"],
            **{name: document["comparison"][name] for name in looks},
            "document_sha256": verdict.content_sha256(document),
            "document": verdict.canonical(verdict.lasting(document)).decode(),
        }
    )


def publish(document: dict[str, Any], run: RunLog, request: GateRequest, checkpoint: Checkpoint | None) -> GateResult:
    """Write ``verdict.json`` and ``verdict.html``, then record the promotion, if one is asked for and allowed.

    The promotion comes last: whatever keeps the report from being written keeps the model from being promoted.
    """
    from rlchecks.report import page

    folder = Path(request.reports) / escape(document["run"]["id"]) / escape(document["candidate"])
    who = user()
    override = _override(document, request, who)
    document = document | {"override": override or _earlier_override(folder)}
    # Made before anything is written, so that both files are of one verdict.
    text = page.render(document, run, document["signals"])
    data = write_text(folder / "verdict.json", json.dumps(document, indent=2, allow_nan=False) + "\n")
    html = write_text(folder / "verdict.html", text)
    promotion = None
    if request.promote is not None and (document["decision"] == verdict.PROMOTE or override is not None):
        promotion = promote(Path(request.promote), document, checkpoint, override=request.override, who=who)
    return GateResult(document, html, data, promotion)


def write_text(path: Path, text: str) -> Path:
    """Write a file as a whole or not at all.

    Raises:
        InputError: the place cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(name, 0o644)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", path=path, todo="choose another directory") from None
    return path


def _override(document: Mapping[str, Any], request: GateRequest, who: str) -> dict[str, str] | None:
    if request.override is None or document["decision"] == verdict.PROMOTE:
        return None
    return {"reason": request.override, "who": who, "verdict": document["id"]}


def _earlier_override(folder: Path) -> dict[str, str] | None:
    """The override that an earlier report of this candidate shows: a later verdict must not make it vanish."""
    try:
        earlier = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))["override"]
        return {key: str(earlier[key]) for key in ("reason", "who", "verdict")} if earlier else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
