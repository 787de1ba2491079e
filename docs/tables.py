"""Write the reference pages that are tables: signals, evidence columns, finding codes, frameworks, formats.

python docs/tables.py rewrites them; a test checks that they are current.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

from rlchecks import evidence
from rlchecks.metrics import METRICS
from rlchecks.readers.aliases import Framework, frameworks
from rlchecks.readers.registry import built_in
from rlchecks.signals import SIGNALS
from rlchecks.suites import PROMOTION_FILE, SHIPPED

HERE = Path(__file__).parent


def signals() -> str:
    """The page of the signals, which suites check by name."""
    rows = [(f"`{one.name}`", one.unit or "-", one.kind, one.formula) for one in SIGNALS.values()]
    words = (
        "*Early* and *late* are the first and last fifth of the rows that have the metric. *Blocks*: the run cut into "
        "40 stretches of equal length, a mean each (KL: a median). *Scale*: the reward's range. A signal that cannot "
        "be computed is null, never 0. Health suites (`training_health*.json`) name these columns."
    )
    return page("Signals", words, ("signal", "unit", "type", "formula"), rows)


def columns() -> str:
    """The page of the evidence columns, with what the shipped promotion suite makes of them."""
    suite = json.loads((SHIPPED / PROMOTION_FILE).read_text(encoding="utf-8"))
    rows = []
    for column in evidence.COLUMNS.values():
        checks = [one for one in suite["expectations"] if one["kwargs"]["column"] == column.name]
        for check in checks or [None]:
            if check is None:
                rows.append((f"`{column.name}`", str(column.kind), "-", "-", "-", column.meaning))
                continue
            meta = check["meta"]
            code = f"`{meta.get('code', 'health_' + column.name)}`"
            reason = f"{column.meaning}. {meta['why']}"
            rows.append((f"`{column.name}`", str(column.kind), meta["on_failure"], meta["on_missing"], code, reason))
    words = (
        "The promotion suite (`promotion.json`) decides over one row with these columns. A column without effects is "
        "for the report, or stands ready for a suite of your own. A finding of warning or worse that no expectation "
        "names sets `unnamed_finding`."
    )
    return page("Evidence", words, ("column", "type", "on failure", "on missing", "reason code", "reason"), rows)


def vocabulary() -> str:
    """The page of the frameworks: what each calls the canonical metrics."""
    document = tomllib.loads(files("rlchecks.readers").joinpath("aliases.toml").read_text(encoding="utf-8"))
    words = (
        "What is logged under which key, framework by framework, from `rlchecks/readers/aliases.toml`. The first "
        "framework whose fingerprint fits the keys of a log, with or without a tracker's prefix, is the one; a log "
        "that fits none is read as `table`. Of several keys for a metric the first counts. A key in italics is a "
        "pattern; where several keys of a log fit one pattern, each speaks for a part of the run, and none is used. "
        "The facts of a run say what was computed (`metrics_derived`), which divergence or entropy is exactly 0 in all "
        "of at least 5 training rows and so was not measured (`metrics_switched_off`), what the framework cannot log "
        "(`metrics_not_loggable`), whether `kl` is a sum and no mean per token (`kl_semantics`), and which spread "
        "`reward_std` is (`reward_std_semantics`; TRL's is inferred from version, keys and values). The keys of TRL, "
        "Unsloth, verl and tinker-cookbook were seen in real logs; those of the others were taken from their sources, "
        "which `aliases.toml` names."
    )
    lines = ["# Frameworks", "", words, "", "Written by `docs/tables.py`.", ""]
    for name, known in frameworks().items():
        lines += [f"## {known.title}", "", _about(known, document[name]), ""]
        rows = list(_keys_of(known, document[name]))
        if rows:
            lines += ["| metric | keys |", "|---|---|", *(f"| {metric} | {keys} |" for metric, keys in rows), ""]
        if known.not_loggable and "not_loggable" in document[name]:
            lines += [f"It cannot log {', '.join(f'`{metric}`' for metric in known.not_loggable)}.", ""]
    return "\n".join(lines)


def _about(known: Framework, own: dict[str, Any]) -> str:
    base = f"; what is not given here is as in `{own['extends']}`" if "extends" in own else ""
    signs = [" and ".join(_code(key) for key in fingerprint) for fingerprint in own.get("fingerprints", [])]
    signs += [f"*{_code(pattern)}*" for pattern in own.get("fingerprint_patterns", [])]
    signs = signs or (
        ["nothing: it is the last resort"] if known.name == "table" else ["nothing: its keys are its base's"]
    )
    return f"`{known.name}`, versions: {known.versions}{base}. Recognised by {'; or '.join(signs)}."


def _keys_of(known: Framework, own: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for metric in METRICS:
        keys = [_key(known, key) for key in own.get("metrics", {}).get(metric, [])]
        keys += [f"*{_key(known, pattern)}*" for pattern in own.get("patterns", {}).get(metric, [])]
        if metric in own.get("derived", {}):
            keys += [_code(formula.pattern_text()) for formula in known.derived[metric]]
        if keys:
            yield f"`{metric}`", ", ".join(keys)
    for pattern in own.get("functions", []):
        yield "`reward/<function>`", f"*{_code(pattern)}*"
    for metric, keys in own.get("validation", {}).items():
        yield f"`{metric}` of the validation", ", ".join(map(_code, keys))
    for pattern in own.get("validation_patterns", {}).get("reward", []):
        yield "`reward` of one validation set", f"*{_code(pattern)}*"


def _key(known: Framework, key: str) -> str:
    meaning = known.semantics.get(key)
    return _code(key) + (f" ({meaning.replace('_', ' ')})" if meaning else "")


def _code(key: str) -> str:
    return f"`{key.replace('|', chr(92) + '|')}`"


def formats() -> str:
    """The index of the formats: what is recognised as what, in the order in which the readers are asked."""
    words = (
        "`rlchecks ingest PATH` finds the runs below a path by itself. A file or directory is read by the first of "
        "these that recognises it; readers of third parties ([how to write one](../plugins.md)) are asked before the "
        "tables. What the logged keys mean is said in [frameworks](frameworks.md), the same for all formats."
    )
    rows = [
        (f"[{_title(reader.name)}]({reader.name}.md)", f"`{reader.name}`", _inert(reader.looks_for))
        for reader in built_in()
    ]
    return page("Formats", words, ("format", "reader", "recognised"), rows)


def _inert(text: str) -> str:
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def _title(name: str) -> str:
    return (HERE / "formats" / f"{name}.md").read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def page(title: str, words: str, head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A page with a table in Markdown."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return "\n".join([f"# {title}", "", words, "", "Written by `docs/tables.py`.", "", *lines, ""])


PAGES = {
    "signals.md": signals,
    "evidence.md": columns,
    "formats/frameworks.md": vocabulary,
    "formats/README.md": formats,
}

if __name__ == "__main__":
    for name, write in PAGES.items():
        (HERE / name).write_text(write(), encoding="utf-8")
