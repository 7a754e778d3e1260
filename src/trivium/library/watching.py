"""Watching folders: the library follows what happens to their files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING

from trivium.errors import InvalidValue, SourceError, install
from trivium.library.filling import Filling
from trivium.protocols import Progress, silent

if TYPE_CHECKING:
    from trivium.ingest.add import AddReport

TOGETHER_MS = 400
"""Changes that come within this time are one: a save is several of them."""

LOOK_MS = 250
"""How often the watcher looks whether something is due, and whether it is to stop."""

HOLD_SECONDS = 1.0
"""How long a file must be gone before its document is: many editors save by deleting and renaming,
and a file that moves is gone before it is there."""


class Watching(Filling):
    """What keeps the library in step with folders."""

    def watch(
        self,
        *folders: str | Path,
        told: Callable[[AddReport], None],
        stop: Event | None = None,
        embed: bool = True,
        progress: Progress = silent,
    ) -> None:
        """Follow folders until `stop` is set or Ctrl-C: create, edit, rename, delete.

        First it catches up with what changed since it last looked, as `add(…, sync=True)` does, and
        tells the report of that; then one for each time that something changed.
        """
        from trivium.ingest.files import is_gone

        roots = [_root(Path(folder)) for folder in folders]
        if not roots:
            raise InvalidValue("name at least one folder to watch")
        held: dict[Path, float] = {}
        for fresh, paths in _changes(roots, stop):
            if fresh:  # the watcher stands by now, so nothing falls between the two
                told(self.add(*roots, sync=True, embed=embed, progress=progress))
            now = monotonic()
            held |= dict.fromkeys((p for p in paths if is_gone(p)), now + HOLD_SECONDS)
            held = {path: due for path, due in held.items() if is_gone(path)}
            there = [path for path in paths if path not in held]
            due = [path for path, at in held.items() if at <= now]
            held = {path: at for path, at in held.items() if at > now}
            if there or due:
                report = self._follow(roots, there, due, embed, progress)
                if report.is_news:
                    told(report)

    def _follow(
        self,
        roots: Iterable[Path],
        there: Iterable[Path],
        due: Iterable[Path],
        embed: bool,
        progress: Progress,
    ) -> AddReport:
        standing = list(filter(os.path.isdir, roots))  # a drive that is pulled out is not
        adding = self._adding(progress=progress)
        adding.changed(there)
        adding.gone(path for path in due if any(path.is_relative_to(root) for root in standing))
        return self._finish(adding, embed, progress)


def _root(folder: Path) -> Path:
    from trivium.ingest.files import denied

    if problem := denied(folder):
        raise InvalidValue(f"{folder}: {problem}")
    if not folder.is_dir():
        raise InvalidValue(f"{folder} is not a folder; name the folder to watch")
    return folder.resolve()


def _changes(roots: list[Path], stop: Event | None) -> Iterator[tuple[bool, set[Path]]]:
    """Paths to which something happened, and now and then none; whether a watcher has just begun.

    Folders that may not be read are left out. As soon as they may be, a new watcher begins.
    """
    try:
        import watchfiles
    except ImportError as error:
        raise SourceError(
            f"watching needs watchfiles, which is not installed; {install('watch')}"
        ) from error
    from trivium.ingest.mirror import belongs

    follow = partial(
        watchfiles.watch,
        watch_filter=lambda _, path: belongs(Path(path), roots),
        debounce=TOGETHER_MS,
        rust_timeout=LOOK_MS,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=True,
    )
    closed: set[Path] | None = None  # not looked for yet
    while True:
        places = roots
        if closed is not None:
            places, closed = _parted(roots)
        fresh = True
        try:
            for changes in follow(*places, ignore_permission_denied=closed is not None):
                paths = {Path(path) for _, path in changes}
                yield fresh, paths
                fresh = False
                if closed and any(os.access(path, os.R_OK) for path in closed):
                    break
            else:
                return  # it was told to stop
        except PermissionError:  # one closed folder is enough for none to be followed
            if closed is not None:
                raise
            closed = set()
        except FileNotFoundError:
            if closed is None or not any(map(os.path.isdir, roots)):
                raise  # else a folder has gone since they were listed


def _parted(roots: Iterable[Path]) -> tuple[list[Path], set[Path]]:
    """Every folder that may be read, and those that may not.

    A watcher gives up below a folder at the first one that is closed, but each is followed that is
    named by itself.
    """
    from trivium.ingest.files import is_skipped

    standing: list[Path] = []
    closed: set[Path] = set()
    for root in roots:
        for folder, below, _ in os.walk(root, onerror=lambda why: closed.add(Path(why.filename))):
            standing.append(Path(folder))
            below[:] = [name for name in below if not is_skipped(name)]
    return standing or list(roots), {folder for folder in closed if not os.access(folder, os.R_OK)}
