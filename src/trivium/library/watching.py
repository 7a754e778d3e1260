"""Watching folders: the library follows what happens to their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
        roots = [_root(Path(folder)) for folder in folders]
        if not roots:
            raise InvalidValue("name at least one folder to watch")
        held: dict[Path, float] = {}
        for number, paths in enumerate(_changes(roots, stop)):
            if number == 0:  # the watcher stands by now, so nothing falls between the two
                told(self.add(*roots, sync=True, embed=embed, progress=progress))
            now = monotonic()
            held |= dict.fromkeys((p for p in paths if not p.exists()), now + HOLD_SECONDS)
            held = {path: due for path, due in held.items() if not path.exists()}
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
        standing = [root for root in roots if root.is_dir()]  # a drive that is pulled out is not
        adding = self._adding(progress=progress)
        adding.changed(there)
        adding.gone(path for path in due if any(path.is_relative_to(root) for root in standing))
        return self._finish(adding, embed, progress)


def _root(folder: Path) -> Path:
    if not folder.is_dir():
        raise InvalidValue(f"{folder} is not a folder; name the folder to watch")
    return folder.resolve()


def _changes(roots: list[Path], stop: Event | None) -> Iterator[set[Path]]:
    """Paths to which something happened, and now and then none."""
    try:
        from watchfiles import watch
    except ImportError as error:
        raise SourceError(
            f"watching needs watchfiles, which is not installed; {install('watch')}"
        ) from error
    from trivium.ingest.mirror import belongs

    for changes in watch(
        *roots,
        watch_filter=lambda _, path: belongs(Path(path), roots),
        debounce=TOGETHER_MS,
        rust_timeout=LOOK_MS,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=True,
    ):
        yield {Path(path) for _, path in changes}
