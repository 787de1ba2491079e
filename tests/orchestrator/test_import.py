"""The server starts first, so that what starts it must not load anything first."""

from __future__ import annotations

import subprocess
import sys


def test_starting_the_server_needs_no_heavy_import() -> None:
    heavy = {"prefect", "great_expectations", "pyarrow", "pandas", "numpy", "httpx", "uvicorn"}
    program = f"import sys, rlchecks.orchestrator\nprint(*({heavy!r} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
