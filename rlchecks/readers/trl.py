"""Hugging Face TRL: output directories and ``trainer_state.json``."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from rlchecks.readers.aliases import framework, recognise
from rlchecks.readers.assemble import Logged, assemble, keys_of
from rlchecks.readers.files import read_head
from rlchecks.readers.identity import run_name
from rlchecks.readers.registry import ReadOptions
from rlchecks.readers.steps import MAX_STEP, Row
from rlchecks.readers.trl_completions import completion_files, read_completions
from rlchecks.readers.trl_neighbours import look_around, side_files
from rlchecks.readers.trl_rules import apply
from rlchecks.readers.trl_source import STATE, Choice, choose, is_checkpoint, load_state, state_files
from rlchecks.readers.values import to_count, to_text
from rlchecks.run import RunLog, rows_of

_FACTS = ("logging_steps", "eval_steps", "save_steps", "num_train_epochs", "train_batch_size")
_DEFAULT = "trl_grpo"
# Runs with one seed often share their first row; hardly any two share more.
_OPENING_ROWS = 16
_LOG = re.compile(r'"log_history"\s*:\s*\[\s*(?=\{)')
_NEXT = re.compile(r"\s*,\s*(?=\{)")


class TrlReader:
    """Reads what TRL's GRPO and RLOO trainers of every key generation wrote, and Unsloth's and others' built on it."""

    name = "trl"
    suffixes = frozenset({".json"})
    looks_for = f"a TRL output directory (with {STATE} or checkpoint-*/{STATE}), or a JSON file with log_history"

    def holds(self, names: Collection[str]) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        return any(name == STATE or is_checkpoint(name) for name in names)

    def detect(self, path: Path, head: bytes) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`."""
        if path.is_dir():
            return bool(state_files(path))
        return path.name == STATE or (path.suffix.lower() == ".json" and b'"log_history"' in head)

    def files(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`."""
        states = [state for _, state in state_files(path)]
        others = [*side_files([path, *(state.parent for state in states)]), *_answers(path)]
        return [*states, *(file for file in others if os.path.lexists(file))]

    def belongs(self, directory: Path) -> bool:
        """See :class:`rlchecks.readers.registry.Reader`; a checkpoint belongs to the run directory above it."""
        return is_checkpoint(directory.name) and not is_checkpoint(directory.parent.name)

    def beside(self, path: Path) -> list[Path]:
        """See :class:`rlchecks.readers.registry.Reader`; what is in the run's directory and its checkpoints."""
        directory = path.parent
        if path.name != STATE:
            return [*side_files([directory]), directory / "wandb"]
        answers = [directory / "completions", *_answers(directory)]
        return [*side_files(_places(directory)), directory / "wandb", directory, *answers]

    def opening(self, path: Path, part: str | None = None) -> str | None:
        """See :class:`rlchecks.readers.registry.Reader`; the first logged row, and those of the next with a reward.

        Raises:
            InputError: the log cannot be read; NotARunError: it holds no run of reinforcement learning.
        """
        state = state_files(path)[0][1] if path.is_dir() else path
        rows = _first_rows(read_head(state).decode("utf-8", "ignore"))
        rewards = {key for key in keys_of(rows) if framework(_DEFAULT).is_reward(key)}
        if not rewards:
            # Not among the first rows: the whole log has to tell.
            self.read(path, ReadOptions())
            rows = rows or [_choose(path).state.rows[0]]
        # Without the closing row, which a log that went on does not have.
        others = [row for row in rows[1:_OPENING_ROWS] if row.keys() & rewards and "train_runtime" not in row]
        return "\n".join(json.dumps(row, sort_keys=True) for row in [*rows[:1], *others])

    def read(self, path: Path, options: ReadOptions) -> RunLog:
        """See :class:`rlchecks.readers.registry.Reader`."""
        directory = path if path.is_dir() else path.parent
        choice = _choose(path)
        state = choice.state
        alone = path.is_file() and path.name != STATE
        neighbours = look_around([directory] if alone else _places(directory, state.path.parent))
        keys = keys_of(state.rows)
        facts = {key: to_text(value) for key in _FACTS if (value := state.fields.get(key)) is not None}
        logged = Logged(
            path=path,
            name=run_name(path),
            framework=recognise(keys, _DEFAULT),
            rows=state.rows,
            inputs=(*choice.inputs, *neighbours.inputs),
            planned_steps=to_count(state.fields.get("max_steps"), MAX_STEP) or None,
            framework_version=neighbours.trl_version,
            facts={**facts, **neighbours.facts},
            warnings=choice.warnings,
        )
        files = [] if alone else completion_files(directory)
        run = apply(assemble(logged, options), keys, logs_completions=bool(files))
        evaluated = rows_of(run.steps, "eval")["step"].to_pylist()
        answers = read_completions(files, run.run_id, run.graders, frozenset(evaluated))
        return replace(
            run,
            completions=answers.table,
            inputs=(*run.inputs, *answers.inputs),
            warnings=(*run.warnings, *answers.warnings),
        )


def _choose(path: Path) -> Choice:
    if path.is_dir():
        return choose(path)
    state = load_state(path)
    return Choice(state, (state.source,), state.warnings)


def _places(directory: Path, *others: Path) -> list[Path]:
    """List the directories whose small files tell about a run; that of the model is in the checkpoints alone."""
    return [directory, *others, *(state.parent for _, state in state_files(directory)[-1:])]


def _answers(directory: Path) -> list[Path]:
    return [file for _, file in completion_files(directory)]


def _first_rows(head: str) -> list[Row]:
    """Parse the logged rows that stand whole in the beginning of a state."""
    decoder = json.JSONDecoder()
    rows: list[Row] = []
    before = _LOG.search(head)
    while before:
        try:
            row, position = decoder.raw_decode(head, before.end())
        except (ValueError, RecursionError):
            break
        rows.append(row)
        before = _NEXT.match(head, position)
    return rows
