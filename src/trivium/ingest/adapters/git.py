"""A git repository: the files of a commit, and nothing that merely lies in the working tree.

The watermark is the commit that was read; the next time only what git says changed is read.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path, PurePosixPath

from trivium.errors import SourceError
from trivium.ingest.extract import refuse_large
from trivium.ingest.files import SUFFIXES, is_skipped
from trivium.origins import SourceChanges, SourceItem

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SECONDS = 120  # for one call of git


class Repository:
    """The tracked files at HEAD."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def sync(self, watermark: str, known: Mapping[str, str]) -> SourceChanges:
        there = {path for path in self._sizes if _is_read(path)}
        changed = self._changed_since(watermark)
        created = there - known.keys()
        updated = there & known.keys() & (there if changed is None else changed)
        removed = known.keys() - there
        skipped = there - created - updated
        return SourceChanges(
            tuple(sorted(created)),
            tuple(sorted(updated)),
            tuple(sorted(removed)),
            tuple(sorted(skipped)),
            watermark=self._commit,
        )

    def read(self, path: str) -> SourceItem:
        refuse_large(self._sizes.get(path, 0))
        data = self._git("cat-file", "blob", f"{self._commit}:{path}")
        return SourceItem(data, self._time)

    @cached_property
    def _commit(self) -> str:
        commit = self._git("rev-parse", "--verify", "HEAD^{commit}").decode().strip()
        top = Path(self._git("rev-parse", "--show-toplevel").decode().rstrip("\n"))
        if top.resolve() != self.root.resolve():
            raise SourceError(f"{self.root} is inside the repository {top}; name that one")
        return commit

    @cached_property
    def _time(self) -> datetime:
        """When the commit was made: files in git have no time of their own."""
        seconds = self._git("show", "-s", "--format=%ct", self._commit)
        return datetime.fromtimestamp(int(seconds), UTC)

    @cached_property
    def _sizes(self) -> Mapping[str, int]:
        """The ordinary files of the commit; links and other repositories are left out."""
        found = {}
        for row in self._git("ls-tree", "-r", "-l", "-z", self._commit).split(b"\0"):
            about, _, path = row.partition(b"\t")
            mode, kind, _, size = (about.split() + [b""] * 4)[:4]
            if kind == b"blob" and mode != b"120000":
                found[path.decode("utf-8", "replace")] = int(size)
        return found

    def _changed_since(self, watermark: str) -> set[str] | None:
        """The paths that differ from an earlier commit; None if that one is not known."""
        if watermark == self._commit:
            return set()
        if not _COMMIT.fullmatch(watermark):
            return None
        try:
            names = self._git(
                *("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff"),
                *(watermark, self._commit),
            )
        except SourceError:  # a history that was rewritten: read it all again
            return None
        return {name.decode("utf-8", "replace") for name in names.split(b"\0") if name}

    def _git(self, *arguments: str) -> bytes:
        environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
        command = ["git", "-C", str(self.root), "-c", "core.fsmonitor=false", *arguments]
        try:
            done = subprocess.run(
                command, capture_output=True, check=False, env=environment, timeout=_SECONDS
            )
        except FileNotFoundError as error:
            raise SourceError("git is not installed; install it, or add the folder") from error
        except subprocess.TimeoutExpired as error:
            raise SourceError(f"git took too long in {self.root}; try again") from error
        if done.returncode:
            why = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
            raise SourceError(
                f"{self.root} cannot be read as a git repository ({why}). Check the path, or add "
                "it as a folder."
            )
        return done.stdout


def _is_read(path: str) -> bool:
    parts = PurePosixPath(path)
    return parts.suffix.lower() in SUFFIXES and not any(map(is_skipped, parts.parts))
