"""What a command costs beyond the frameworks it loads: wall times from process start to process end.

    bench_cold_start.py                                  every comparison, on the example run
    bench_cold_start.py cold running --rounds 9          some of them
    bench_cold_start.py cold -- RUN --heldout FILE ...   on another run

The two commands of a comparison alternate, so that a machine that is busy for a while slows both. Each command has a
fresh directory and a fresh PREFECT_HOME, so that ``cold`` includes creating Prefect's database.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rlchecks.orchestrator.server import TemporaryServer

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "hack-lazy-s30"
EXAMPLE_GATE = [
    str(EXAMPLE),
    *("--heldout", str(EXAMPLE / "eval" / "base.parquet")),
    *("--heldout", str(EXAMPLE / "eval" / "checkpoint-100.parquet")),
]
VERDICTS = {0, 1, 2}
RLCHECKS = [sys.executable, "-c", "import sys; from rlchecks.cli import main; sys.exit(main())"]
QUIET = {"DO_NOT_TRACK": "1", "PREFECT_SERVER_ANALYTICS_ENABLED": "false", "GX_ANALYTICS_ENABLED": "false"}
# Prefect gives up after 20 s, which a busy machine exceeds.
PATIENT = {"PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "180"}
EMPTY_FLOW = """
from prefect import flow

@flow
def empty():
    pass

empty()
"""


class Comparison(NamedTuple):
    """Two commands, one of which should not cost much more than the other."""

    reference: str
    reference_command: list[str]
    measured: str
    measured_command: list[str]
    aim: float | None


def comparisons(gate_arguments: Sequence[str], scratch: Path) -> dict[str, Comparison]:
    empty_flow = scratch / "empty_flow.py"
    empty_flow.write_text(EMPTY_FLOW)
    gate = [*RLCHECKS, "gate", *gate_arguments]
    return {
        "cold": Comparison("empty Prefect flow", [sys.executable, str(empty_flow)], "gate", gate, 1.25),
        "running": Comparison(
            "import both frameworks", imports("prefect", "great_expectations"), "gate, server running", gate, 1.5
        ),
        "local": Comparison(
            "import the validator", imports("great_expectations"), "gate --local", [*gate, "--local"], None
        ),
        "diagnose": Comparison(
            "import the libraries",
            imports("pandas", "pyarrow.parquet", "scipy.stats"),
            "diagnose",
            [*RLCHECKS, "diagnose", gate_arguments[0]],
            None,
        ),
    }


def imports(*modules: str) -> list[str]:
    return [sys.executable, "-c", f"import {', '.join(modules)}"]


def seconds(command: Sequence[str], environment: dict[str, str]) -> float:
    """Run the command where nothing was run before; return its wall time, or stop if it did not do its work."""
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as home:
        start = time.perf_counter()
        done = subprocess.run(
            command, cwd=place, env=environment | {"PREFECT_HOME": home}, capture_output=True, text=True
        )
        elapsed = time.perf_counter() - start
    if done.returncode not in VERDICTS:
        raise SystemExit(f"exit code {done.returncode}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return elapsed


@contextmanager
def surroundings(name: str) -> Iterator[dict[str, str]]:
    """The environment of a comparison, with a server in it for ``running``."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PREFECT_")}
    path = os.pathsep.join([str(EXAMPLE.parent.parent), *filter(None, [inherited.get("PYTHONPATH")])])
    environment = inherited | QUIET | PATIENT | {"PYTHONPATH": path}
    if name != "running":
        yield environment
        return
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(QUIET, PREFECT_HOME=home)
        os.environ.pop("PREFECT_API_URL", None)
        server = TemporaryServer.start()
        try:
            server.wait(180)
            yield environment | {"PREFECT_API_URL": server.url}
        finally:
            server.stop()


def measure(name: str, comparison: Comparison, rounds: int) -> tuple[list[float], list[float]]:
    reference, measured = [], []
    with surroundings(name) as environment:
        # The first round is not counted: it compiles modules and fills the file system's cache.
        for number in range(rounds + 1):
            first = seconds(comparison.reference_command, environment)
            second = seconds(comparison.measured_command, environment)
            if number:
                reference.append(first)
                measured.append(second)
                print(f"  {name} {number}/{rounds}: {first:.2f} s, {second:.2f} s", file=sys.stderr)
    return reference, measured


def row(comparison: Comparison, reference: list[float], measured: list[float]) -> str:
    ratio = median(measured) / median(reference)
    aim = "" if comparison.aim is None else f"{comparison.aim:.2f}"
    cells = [f"{comparison.measured:22}", spread(measured), f"{comparison.reference:22}", spread(reference)]
    return " | ".join([*cells, f"{ratio:5.2f}", f"{aim:>4}"])


def spread(values: list[float]) -> str:
    return f"{median(values):6.2f} ({min(values):6.2f} to {max(values):6.2f})"


def main() -> None:
    names = ("cold", "running", "local", "diagnose")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("comparison", nargs="*", choices=[*names, []], help=f"of {', '.join(names)}; default: all")
    parser.add_argument("--rounds", type=int, default=5, help="rounds that count, besides the first (default: 5)")
    own, gate_arguments = split_at_dashes(sys.argv[1:])
    arguments = parser.parse_args(own)
    with tempfile.TemporaryDirectory() as scratch:
        chosen = comparisons(gate_arguments or EXAMPLE_GATE, Path(scratch))
        rows = [
            row(chosen[name], *measure(name, chosen[name], arguments.rounds)) for name in arguments.comparison or names
        ]
    print(f"{'command':22} | {'seconds: median (range)':26} | {'against':22} | {'seconds':26} | ratio |  aim")
    print("\n".join(rows))


def split_at_dashes(arguments: list[str]) -> tuple[list[str], list[str]]:
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:at], arguments[at + 1 :]


if __name__ == "__main__":
    main()
