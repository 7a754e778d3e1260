"""What one file may cost."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST_FILE = 200 * 1024 * 1024
"""Bytes: larger files are refused before they are read."""

OCR_SECONDS = 240.0
"""For all the pictures of one document; pages beyond that are named in a note."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of the child process for one file.

    2 GB is twice what the hungriest file tried took: 940 MB for an HTML page of 184 MB. A page of
    PDF takes 20 to 60 ms, and text alone packs to hundreds of pages a megabyte. `grace` is for
    starting up on a busy machine; `files` bounds what leaks add up to.
    """

    memory: int = 2 * 1024**3
    seconds: float = 60.0
    seconds_a_megabyte: float = 30.0
    most_seconds: float = 900.0
    grace: float = 10.0
    files: int = 500

    def computing(self, size: int) -> float:
        """Seconds of computing for a file of this size."""
        return min(self.seconds + self.seconds_a_megabyte * size / 1024**2, self.most_seconds)

    def patience(self, size: int, *, pictures: bool) -> float:
        """Seconds to wait for it: the machine may be busy, and pictures take their own time."""
        return 2 * self.computing(size) + self.grace + (OCR_SECONDS if pictures else 0)


LIMITS = Limits()
