"""Third parties' readers: whatever goes wrong in one of them becomes one clear error that names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import NoneType
from typing import Any

from rlchecks.errors import InputError, RlchecksError
from rlchecks.readers.text import place, shown
from rlchecks.run import RunLog

_RETURNS: dict[str, tuple[type, ...]] = {
    "read": (RunLog,),
    "parts": (list,),
    "opening": (str, NoneType),
    "files": (list,),
    "beside": (list,),
}
_LISTS: dict[str, type] = {"parts": str, "files": Path, "beside": Path}


class Guarded:
    """A reader that raises nothing but errors that rlchecks raises on purpose.

    Args:
        reader: the third party's; what it lacks is lacking here, too.
    """

    def __init__(self, reader: Any) -> None:
        self.inner = reader

    def __getattr__(self, name: str) -> Any:
        """Return what the reader has under this name, guarded if it can be called."""
        try:
            value = getattr(self.inner, name)
        except (AttributeError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise self._failure(name, (), shown(repr(error), 200)) from error
        return self._guarded(name, value) if callable(value) else value

    def _guarded(self, what: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*arguments: Any) -> Any:
            try:
                result = call(*arguments)
            except (RlchecksError, KeyboardInterrupt):
                raise
            except BaseException as error:
                # SystemExit, what asynchronous code raises when it is cancelled, and the like are no exceptions.
                raise self._failure(what, arguments, shown(repr(error), 200)) from error
            expected = _RETURNS.get(what)
            if expected is not None and not isinstance(result, expected):
                raise self._failure(what, arguments, f"it returned a {type(result).__name__}")
            strange = (
                next((one for one in result if not isinstance(one, _LISTS[what])), None) if what in _LISTS else None
            )
            if strange is not None:
                raise self._failure(what, arguments, f"its list has a {type(strange).__name__} in it")
            return result

        return guarded

    def _failure(self, what: str, arguments: tuple[Any, ...], reason: str) -> InputError:
        path = next((place(one) for one in arguments if isinstance(one, Path)), None)
        problem = f"the reader {shown(str(self.inner.name))} failed in {what} ({reason})"
        return InputError(problem, path=path, todo="report it to those who offer that reader")
