"""What a person should know about the columns of a log."""

from __future__ import annotations

from rlchecks.metrics import METRICS
from rlchecks.readers.columns import Notes
from rlchecks.readers.frameworks import Framework
from rlchecks.readers.ranges import limits
from rlchecks.readers.text import counted, listing, shown


def remarks(notes: Notes, framework: Framework, *, quoted: bool) -> list[str]:
    """Write what was noticed while columns were built, one sentence each.

    Args:
        notes: what was noticed.
        framework: whose keys they are.
        quoted: whether numbers in text are worth a mention.
    """
    found = []
    if notes.quoted and quoted:
        found.append(f"{counted(notes.quoted, 'number')} logged as text: read as numbers")
    for key, count in notes.texts.items():
        found.append(f"{shown(key)}: {counted(count, 'value')} not numeric, kept as text")
    if framework.keys_agree:
        for key, used in notes.differing.items():
            found.append(f"{shown(used)} and {shown(key)} are both logged and differ: {shown(used)} is used")
    for key, name in notes.outside.items():
        todo = "; if it is in per cent, divide it by 100 in the log" if METRICS[name].unit == "fraction" else ""
        found.append(f"{shown(key)} has values {limits(name)}, so it cannot be {name}: left unmapped{todo}")
    for key, text in notes.written.items():
        todo = "write the numbers alone, a share as a fraction of 1"
        found.append(f"{shown(key)} has values such as {shown(text)}, which are no numbers: left unmapped; {todo}")
    for key, (name, count) in notes.strays.items():
        found.append(
            f"{shown(key)}: {counted(count, 'value')} {limits(name)}, which {name} cannot be: taken as missing"
        )
    for name, (key, count) in notes.switched_off.items():
        found.append(f"{shown(key)} is exactly 0 in all {counted(count, 'training row')}: {name} taken as not measured")
    for name, parts in framework.unclear.items():
        found.append(
            f"{listing(parts)} are each {shown(name)} for a part of the run (an environment, an agent, a role), none"
            " for all: none is used"
        )
    found += dict.fromkeys(notes.doubts)
    for key, meanings in framework.ambiguous.items():
        if key in notes.unmapped and not notes.mapped.keys() & set(meanings):
            question = " or ".join(meanings)
            found.append(f"{shown(key)} is not used, since its name does not tell whether it is {question}")
    return found
