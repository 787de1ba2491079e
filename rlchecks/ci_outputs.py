"""What a CI server shows of a verdict: JUnit XML, a summary in Markdown, annotations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlchecks.errors import InputError
from rlchecks.publication import write_text


@dataclass(frozen=True)
class CiOutputs:
    """Where the verdict goes beside its report.

    Attributes:
        junit: file of the JUnit XML, written anew.
        summary: Markdown file that the verdict is appended to, such as ``$GITHUB_STEP_SUMMARY``.
        annotations: whether GitHub's workflow commands are wanted.
    """

    junit: Path | None = None
    summary: Path | None = None
    annotations: bool = False

    def begin(self) -> None:
        """Put a failing test into the JUnit file, so that one of an earlier gate cannot pass for this one.

        Raises:
            InputError: a file cannot be written; nothing was decided yet.
        """
        if self.junit is not None:
            from rlchecks.report.junit import verdict_junit

            write_text(self.junit, verdict_junit({}))
        if self.summary is not None:
            _append(self.summary, "")

    def finish(self, document: Mapping[str, Any]) -> str:
        """Write the files.

        Args:
            document: ``verdict.json``.

        Returns:
            The workflow commands, to be printed; empty if they are not wanted.

        Raises:
            InputError: a file cannot be written.
        """
        if self.junit is not None:
            from rlchecks.report.junit import verdict_junit

            write_text(self.junit, verdict_junit(document))
        if self.summary is not None:
            from rlchecks.report.markdown import verdict_markdown

            _append(self.summary, verdict_markdown(document))
        if not self.annotations:
            return ""
        from rlchecks.report.annotations import verdict_annotations

        return verdict_annotations(document)


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        todo = "choose another place with --summary"
        raise InputError(f"cannot be written ({error.strerror})", path=path, todo=todo) from None
