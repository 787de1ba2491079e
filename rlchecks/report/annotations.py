"""The verdict as workflow commands, which GitHub shows as annotations of a run.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlchecks.report import summary
from rlchecks.report.inert import line

_COMMANDS = {"reject": "error", "hold": "error", "warn": "warning"}
_MOST = 10
"""GitHub shows at most ten annotations of a kind for each step."""


def verdict_annotations(document: Mapping[str, Any]) -> str:
    """One line for the decision, then one for each reason against it, the gravest first.

    Args:
        document: ``verdict.json``. Its text can be no command of its own: it stays on one line, and the characters
            that end a property are escaped.
    """
    decision = summary.decision(document)
    subject = f"{summary.name_of(document.get('run'))}, {summary.name_of(document.get('candidate'))}"
    kind = "notice" if decision == "PROMOTE" else "error"
    lines = [_command(kind, f"{decision}: {subject}", summary.headline(document))]
    shown = dict.fromkeys(_COMMANDS.values(), 0) | {kind: 1}
    for reason in summary.failing(summary.items(document, "reasons")):
        command = _COMMANDS[summary.effect(reason)]
        if shown[command] < _MOST:
            shown[command] += 1
            told = " ".join(filter(None, (summary.account(reason), line(reason.get("advice") or "", 600))))
            lines.append(_command(command, summary.title(reason), told or summary.title(reason)))
    return "\n".join(lines) + "\n"


def _command(command: str, title: str, message: str) -> str:
    return f"::{command} title={_property(title)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
