"""How a command ends: whatever happens becomes an exit code and, at most, one sentence on stderr."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import typer

from rlchecks.cli.output import COULD_NOT_RUN, inert, print_json
from rlchecks.errors import RlchecksError

_INTERRUPTED = 130


def run(command: Callable[[], Any]) -> int:
    """Run a command and turn whatever happens into an exit code and, at most, one sentence on stderr.

    With ``--json`` the sentence also stands in the document on stdout, as ``{"error": ...}``.
    """
    try:
        code = command()
        if sys.stdout is not None:
            sys.stdout.flush()
        # Typer's answer to Ctrl-C.
        if code == _INTERRUPTED:
            return _could_not_run("stopped.")
    except RlchecksError as error:
        return _could_not_run(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return _could_not_run("stopped.")
    except (SystemExit, BrokenPipeError):
        # Typer ends the process itself, with 1, when a pipe was closed.
        return _leave_quietly()
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _could_not_run(f"{place}{error.strerror or error}.")
    except Exception as error:
        # Typer's own errors (a wrong option, a missing argument) share no public base, but this method. It is empty
        # when the help was shown instead.
        if (wording := getattr(error, "format_message", None)) is not None:
            sentence = wording().rstrip(".")
            if "extra argument" in sentence:
                sentence += "; repeat the option for each file, or name their folder"
            return _could_not_run(f"{sentence}; see --help." if sentence else "")
        if os.environ.get("RLCHECKS_DEBUG"):
            traceback.print_exc()
        problem = f"{type(error).__name__}: {error}"
        return _could_not_run(f"a fault of rlchecks itself ({problem}); RLCHECKS_DEBUG=1 shows where.")
    return code if isinstance(code, int) else 0


def _could_not_run(sentence: str) -> int:
    if sentence:
        sentence = inert(sentence)
        with suppress(OSError, ValueError):
            typer.echo(f"rlchecks: {sentence}", err=True)
        with suppress(OSError, ValueError):
            if "--json" in sys.argv:
                print_json({"error": sentence})
    return COULD_NOT_RUN


def _leave_quietly() -> int:
    """Nobody reads stdout any more; closing it at the end must not raise again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return COULD_NOT_RUN
