"""Write docs/findings.md: what each finding means, its rule, its thresholds, and how often it is right.

python docs/findings.py rewrites it; a test checks that it is current. The words come from findings_words.toml, the
thresholds from expectations/, the measured figures from detection.md, the pictures from pictures.py.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rlchecks.diagnosis import CODES, PROFILES, Parameters
from rlchecks.diagnosis.parameters import FILE
from rlchecks.diagnosis.registry import rules
from rlchecks.suites import PROMOTION_FILE, SHIPPED, health_file, load

HERE = Path(__file__).parent
MEASURED = HERE / "detection.md"
IMAGES = "images"
SHARED = ("reward", "starved", "rows")
"""Tables of findings.toml that belong to no finding, but to patterns that several share."""

OWN = {"starved": "starved_between"}
"""Findings whose own table has another name."""

TOP = f"""# Findings

What `rlchecks diagnose`, `audit` and `gate` say about a run: what each finding means, when it comes out, how often that
is right, and how to change it. The signals that the rules name are listed in [signals](signals.md); *early* and *late*
are the first and last fifth of a run.

Every threshold below can be changed:

```sh
rlchecks init our-expectations/    # copies the files
rlchecks gate RUN --heldout results.jsonl --expectations our-expectations/
```

`[table] key` stands in `{FILE}` there; a table `[PROFILE.table]`, such as `[reasoning.length_with_reward]`, overrides
it for one profile, and a key that is left out keeps the shipped value. A limit of a health suite stands in
`training_health.json` (chat), `training_health.reasoning.json` or `training_health.hosted.json`. Where no other source
is named, a threshold was set on 34 runs of TRL, 17 of them sound, and is measured again by the detection benchmark.

Information never alarms. What the gate makes of a warning or of a critical finding is the promotion suite's to say
(`{PROMOTION_FILE}`, [evidence columns](evidence.md)).

Written by `docs/findings.py`.
"""


def page() -> str:
    """Write the page."""
    words = tomllib.loads((HERE / "findings_words.toml").read_text(encoding="utf-8"))
    parameters = {profile: load(profile).parameters for profile in PROFILES}
    measured = tables(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    rows = [
        "| finding | severity | recall | precision |",
        "|---|---|---|---|",
        *(
            f"| [`{code}`](#{code}) | {_severity(code, parameters['chat'])} | {figure('recall')} "
            f"| {figure('precision')} |"
            for code in CODES
            for figure in (_of(measured, "chat", code),)
        ),
    ]
    sections = [_section(code, words[code], parameters, measured) for code in CODES]
    return "\n".join([TOP, *rows, "", *sections, _shared(parameters)])


def _section(
    code: str, words: Mapping[str, Any], parameters: Mapping[str, Parameters], measured: Mapping[str, Any]
) -> str:
    lines = [f"## {code}", "", _paragraph(words["means"]), ""]
    picture = HERE / IMAGES / f"{code}.svg"
    if picture.exists():
        lines += [f"![{words['caption']}]({IMAGES}/{code}.svg)", "", f"*{words['caption']}*", ""]
    lines += ["**Rule.** " + _paragraph(words["rule"]), ""]
    lines += _table([*_keys(_own(code), parameters), *_columns(words.get("columns", []))])
    shared = [f"`[{table}]`" for table in words.get("tables", []) if table in SHARED]
    others = [f"`[{table}]`" for table in words.get("tables", []) if table not in (*SHARED, _own(code))]
    if shared:
        lines += [f"It also uses the [shared thresholds](#shared-thresholds) of {', '.join(shared)}.", ""]
    if others:
        lines += [f"It also uses the thresholds of {', '.join(others)}.", ""]
    lines += ["**Severity and gate.** " + _effect(code, words, parameters), ""]
    lines += ["**Measured.** " + _measured(code, measured), ""]
    return "\n".join(lines)


def _paragraph(text: str) -> str:
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def _shared(parameters: Mapping[str, Parameters]) -> str:
    lines = ["## Shared thresholds", "", "Those of patterns that several findings rest on.", ""]
    return "\n".join([*lines, *_table([row for table in SHARED for row in _keys(table, parameters)])])


def _own(code: str) -> str:
    return OWN.get(code, code)


def _table(rows: list[str]) -> list[str]:
    head = [f"| threshold | {' | '.join(PROFILES)} | what it is, and its source |", "|---|---|---|---|---|"]
    return [*head, *rows, ""] if rows else []


def _keys(table: str, parameters: Mapping[str, Parameters]) -> Iterator[str]:
    """Rows of a table of findings.toml."""
    comments = _comments()
    names = [key for profile in PROFILES for key in parameters[profile].tables.get(table, {})]
    for key in dict.fromkeys(names):
        values = [_value(parameters[profile].tables[table].get(key)) for profile in PROFILES]
        yield f"| `[{table}] {key}` | {' | '.join(values)} | {comments.get((table, key), '')} |"


def _columns(columns: list[str]) -> Iterator[str]:
    """Rows of the limits that a rule takes from the health suites."""
    for column in columns:
        found = {profile: _expectations(profile, column) for profile in PROFILES}
        for place in range(max(map(len, found.values()))):
            some = [found[profile][place] if place < len(found[profile]) else None for profile in PROFILES]
            cells = ["-" if one is None else _bound(one) for one in some]
            why = next(one["meta"]["why"] for one in some if one is not None)
            yield f"| health suite, `{column}` | {' | '.join(cells)} | {why} |"


def _value(value: object) -> str:
    return "-" if value is None else ", ".join(value) if isinstance(value, list) else f"{value}"


def _bound(expectation: Mapping[str, Any]) -> str:
    given = expectation["kwargs"]
    low, high = given.get("min_value"), given.get("max_value")
    sign = "<" if given.get("strict_max") else "≤"
    return (f"≥ {low}" if low is not None else f"{sign} {high}") + f", else {expectation['meta']['on_failure']}"


def _expectations(profile: str, column: str) -> list[dict[str, Any]]:
    suite = json.loads((SHIPPED / health_file(profile)).read_text(encoding="utf-8"))
    return [
        one
        for one in suite["expectations"]
        if one["kwargs"].get("column") == column and {"min_value", "max_value"} & one["kwargs"].keys()
    ]


def _comments() -> dict[tuple[str, str], str]:
    """What findings.toml says beside its keys."""
    table, found = "", {}
    for line in (SHIPPED / FILE).read_text(encoding="utf-8").splitlines():
        if heading := re.fullmatch(r"\[(?:\w+\.)?(\w+)\]", line.strip()):
            table = heading[1]
        elif given := re.match(r"(\w+) *= *(?:\"[^\"]*\"|\[[^\]]*\]|[^#]*?) *# *(.*)", line):
            found[table, given[1]] = given[2].strip().replace("|", "\\|")
    return found


def _severity(code: str, parameters: Parameters) -> str:
    table = "starved_between" if code == "starved" else code
    given = [str(value) for key, value in parameters.tables.get(table, {}).items() if key.startswith("severity")] or [
        "information"
    ]
    if code == "answers_clipped":
        given.append("critical")
    return " or ".join(dict.fromkeys(given))


def _effect(code: str, words: Mapping[str, Any], parameters: Mapping[str, Parameters]) -> str:
    by_profile = {profile: _severity(code, parameters[profile]) for profile in PROFILES}
    hosted = {rule.__module__.rpartition(".")[2] for rule in rules("hosted")}
    if words.get("gate"):
        told = f"{by_profile['chat'].capitalize()}; found by the gate alone."
    else:
        looked = [profile for profile in PROFILES if profile != "hosted" or words.get("module", code) in hosted]
        severities = {by_profile[profile] for profile in looked}
        if len(severities) == 1:
            told = f"{by_profile['chat'].capitalize()}."
        else:
            told = "; ".join(f"{by_profile[profile]} ({profile})" for profile in looked) + "."
        if "hosted" not in looked:
            told += " Not looked for with the profile `hosted`: such logs do not show it."
    suite = json.loads((SHIPPED / PROMOTION_FILE).read_text(encoding="utf-8"))
    effects = {
        one["kwargs"]["column"]: one["meta"]["on_failure"]
        for one in suite["expectations"]
        if one["kwargs"].get("column") in (f"finding_{code}", f"critical_{code}", code)
    }
    if effect := effects.get(code) or effects.get(f"finding_{code}"):
        told += f" The gate {effect}s on it" if not words.get("gate") else f" The gate {effect}s"
        critical = effects.get(f"critical_{code}")
        told += f", and {critical}s if it is critical." if critical and critical != effect else "."
    return told


def tables(text: str) -> dict[str, dict[str, dict[str, str]]]:
    """Read the tables of the detection benchmark: profile to finding to column to cell."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    profile, header = "", []
    for line in text.splitlines():
        if heading := re.match(r"\*\*Profile (\w+)\.\*\*", line):
            profile, header = heading[1], []
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells or not profile or set(cells[0]) <= {"-", ":"}:
            continue
        if not header:
            header = cells
        elif profile not in found or cells[0].strip("`") not in found[profile]:
            # Of several seeds the reference comes first.
            found.setdefault(profile, {})[cells[0].strip("`")] = dict(zip(header, cells, strict=False))
    return found


def _of(measured: Mapping[str, Any], profile: str, code: str) -> Any:
    row = measured.get(profile, {}).get(code, {})
    return lambda column: row.get(column, "not measured")


def _measured(code: str, measured: Mapping[str, Any]) -> str:
    parts = []
    for profile in PROFILES:
        row = measured.get(profile, {}).get(code)
        if row is not None:
            figures = [
                f"{name} {row[name]}" for name in ("recall", "precision", "onset error") if row.get(name, "-") != "-"
            ]
            cases = f" on {row['true cases']} true cases" if row.get("true cases") else ""
            parts.append(f"{profile}: {', '.join(figures) or 'never said'}{cases}")
    if not parts:
        return "Not measured."
    return "; ".join(parts) + ". See [how often the findings are right](detection.md)."


if __name__ == "__main__":
    (HERE / "findings.md").write_text(page(), encoding="utf-8")
