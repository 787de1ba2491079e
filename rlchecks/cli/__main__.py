"""``python -m rlchecks.cli``: the command line without the console script."""

from __future__ import annotations

from rlchecks.cli import main

main()
