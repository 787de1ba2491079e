"""Files of one archive: whole reads, and writes that are seen complete or not at all.

Everything goes through ``pyarrow.fs``. What only a local file system can do, and must (rename, fsync, a lock), is
done with ``os`` and ``fcntl``. An object store puts a whole object at once; it has no lock, so there the
writers of one run must take turns.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs

from rlchecks.errors import ArchiveError

SUFFIX = ".parquet"
_TEMPORARY = ".tmp"
_LOCKS = ".locks"


class Store:
    """One archive directory, local or remote; paths are relative to it and use ``/``.

    Args:
        uri: local path, or a URI that ``pyarrow.fs`` understands.

    Raises:
        ArchiveError: if the URI is empty or not understood.
    """

    def __init__(self, uri: str | Path) -> None:
        text = os.fspath(uri)
        if not text:
            raise ArchiveError("The archive's path is empty; name a directory.")
        if "://" in text:
            try:
                self.fs, root = pafs.FileSystem.from_uri(text)
            except (pa.ArrowException, OSError, ValueError) as error:
                raise ArchiveError(f"{text}: no archive can be opened at this URI ({first_line(error)}).") from error
        else:
            self.fs, root = pafs.LocalFileSystem(), text
        self.local = isinstance(self.fs, pafs.LocalFileSystem)
        # Resolved, because DuckDB compares the files it may read by their real paths.
        self.root: str = os.path.realpath(root) if self.local else root.rstrip("/")

    def full(self, path: str) -> str:
        """Return the path as the file system knows it."""
        return f"{self.root}/{path}"

    def read(self, path: str) -> pa.Buffer:
        """Return a file's bytes.

        Raises:
            FileNotFoundError: if there is none.
            ArchiveError: if it cannot be read for another reason.
        """
        try:
            with self.fs.open_input_file(self.full(path)) as file:
                return file.read_buffer()
        except FileNotFoundError:
            raise
        except OSError as error:
            raise ArchiveError(f"{self.full(path)} cannot be read ({first_line(error)}).") from error

    def stems(self, table: str) -> list[str]:
        """Return the sorted names of a table's Parquet files, without ``.parquet``.

        Whatever bears such a name counts, a directory too: what cannot be read is refused, not passed over.
        """
        selector = pafs.FileSelector(self.full(table), allow_not_found=True)
        try:
            names = [info.base_name for info in self.fs.get_file_info(selector)]
        except OSError as error:
            raise ArchiveError(f"{self.full(table)} cannot be listed ({first_line(error)}).") from error
        return sorted(name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))

    @contextmanager
    def exclusive(self, key: str) -> Iterator[Writer]:
        """Give the only writer of everything that belongs to a key, such as one run's file stem.

        The lock is the kernel's: it ends with its process, however that dies. Keys share 256 locks, so a process
        must not take a second one while it holds one.

        Raises:
            ArchiveError: if the archive cannot be written.
        """
        stripe = hashlib.sha256(key.encode()).hexdigest()[:2]
        writer = Writer(self, stripe)
        try:
            if not self.local:
                yield writer
                return
            os.makedirs(f"{self.root}/{_LOCKS}", exist_ok=True)
            lock = os.open(f"{self.root}/{_LOCKS}/{stripe}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                writer.sweep()
                yield writer
            finally:
                # Closing alone would leave it to a child that was forked meanwhile.
                fcntl.flock(lock, fcntl.LOCK_UN)
                os.close(lock)
        except OSError as error:
            raise ArchiveError(f"The archive {self.root} cannot be written ({first_line(error)}).") from error


class Writer:
    """Writes files of the key whose lock is held; made by :meth:`Store.exclusive` only."""

    def __init__(self, store: Store, stripe: str) -> None:
        self._store = store
        self._stripe = stripe

    def write(self, files: Mapping[str, pa.Buffer]) -> None:
        """Put files in place; each is seen complete or not at all, and on return all survive a loss of power.

        Locally each is written to ``.tmp``, flushed to the disk, and renamed; then the directories are flushed.

        Args:
            files: path to content.
        """
        store = self._store
        if not store.local:
            for path, data in files.items():
                self.put(path, data)
            return
        temporary = {path: f"{_TEMPORARY}/{self._stripe}.{path.replace('/', '.')}.tmp" for path in files}
        folders = sorted({path.split("/", 1)[0] for path in files})
        for folder in [_TEMPORARY, *folders]:
            if not os.path.isdir(store.full(folder)):
                os.makedirs(store.full(folder), exist_ok=True)
                self.flush("")
        for path, data in files.items():
            self.put(temporary[path], data)
        for path in files:
            self.flush(temporary[path])
        for path in files:
            self.move(temporary[path], path)
        for folder in folders:
            self.flush(folder)

    def put(self, path: str, data: pa.Buffer) -> None:
        """Write one file in place."""
        with self._store.fs.open_output_stream(self._store.full(path)) as stream:
            stream.write(data)

    def flush(self, path: str) -> None:
        """Flush a local file or directory to the disk."""
        handle = os.open(self._store.full(path), os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

    def move(self, source: str, target: str) -> None:
        """Rename a file, replacing the target."""
        self._store.fs.move(self._store.full(source), self._store.full(target))

    def delete(self, path: str) -> None:
        """Delete a file if it is there."""
        with suppress(FileNotFoundError):
            self._store.fs.delete_file(self._store.full(path))

    def sweep(self) -> None:
        """Delete what killed writers left in ``.tmp`` under this lock: nobody else can be writing it now."""
        with suppress(FileNotFoundError):
            for name in os.listdir(self._store.full(_TEMPORARY)):
                if name.startswith(f"{self._stripe}."):
                    self.delete(f"{_TEMPORARY}/{name}")


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, without a final full stop: what fits into one sentence."""
    lines = str(error).strip().splitlines()
    return lines[0].strip().rstrip(".") if lines else type(error).__name__
