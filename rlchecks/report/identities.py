"""Who judged and who graded the training, as rows of one small table."""

from __future__ import annotations

from typing import NamedTuple

from rlchecks.report.comparison import deciding
from rlchecks.report.inert import line
from rlchecks.report.summary import Document, items, mapping, name_of

UNKNOWN = "unknown"
_MOST_ROWS = 24
_HASH = 12  # digits of a hash that are shown
_FIELDS = {"kind": "kind", "model": "model", "family": "family", "prompt_sha256": "prompt"}


class Row(NamedTuple):
    """One judge or grader; what is not known is :data:`UNKNOWN`.

    Attributes:
        role: ``judge``, ``advisory judge`` or ``training grader``.
        name: its name.
        kind: rule, model or human.
        model: the model that scores.
        family: its family.
        prompt: the first digits of its prompt's SHA-256.
        source: from where each of these is known.
    """

    role: str
    name: str
    kind: str
    model: str
    family: str
    prompt: str
    source: str

    @property
    def words(self) -> str:
        """What is known beside the name, in a few words."""
        known = {"": self.kind, "asks ": self.model, "family ": self.family, "prompt ": self.prompt}
        said = ", ".join(f"{before}{value}" for before, value in known.items() if value != UNKNOWN)
        return f"{said} ({self.source})" if said and self.source else said or "known by name only"


def rows(document: Document) -> list[Row]:
    """The judges that decide, those that guard, then the training graders; empty in documents without identities."""
    judge, named = mapping(document.get("judge")), deciding(document)
    found = [_row("judge" if one.get("name") in named else "advisory judge", one) for one in items(judge, "identities")]
    graders = (mapping(one.get("identity")) for one in items(document, "graders"))
    return (found + [_row("training grader", one) for one in graders if one])[:_MOST_ROWS]


def _row(role: str, identity: Document) -> Row:
    kind, model, family, prompt = (line(identity.get(field) or "", 120) or UNKNOWN for field in _FIELDS)
    sources: dict[str, list[str]] = {}
    for field, source in mapping(identity.get("from")).items():
        sources.setdefault(line(source, 40), []).append(_FIELDS.get(str(field), line(field, 40)))
    said = "; ".join(f"{', '.join(fields)}: {source}" for source, fields in sources.items())
    return Row(role, name_of(identity), kind, model, family, prompt[:_HASH], said)
