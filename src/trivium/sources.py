"""What a `source` filter means: `#7`, a source's name, a file name, a uri or a path glob."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import translate


def source_matcher(patterns: Sequence[str]) -> Callable[[int, str], bool]:
    """A test of (document number, uri) that holds if any of the patterns fits.

    Comparison ignores case. A glob may speak of the whole uri (`march:places/*`), of the path
    (`places/*.md`) or of the file name (`*.md`); `*` also crosses folders.
    """
    numbers = {int(p[1:]) for p in patterns if re.fullmatch(r"#[0-9]+", p)}
    texts = {p.casefold() for p in patterns}
    globs = [translate(p.casefold()) for p in patterns if any(sign in p for sign in "*?[")]
    glob = re.compile("|".join(globs)) if globs else None

    def matches(number: int, uri: str) -> bool:
        if number in numbers:
            return True
        folded = uri.casefold()
        source, _, path = folded.partition(":")
        names = (folded, source, source + ":", path, path.rpartition("/")[2])
        if not texts.isdisjoint(names):
            return True
        return glob is not None and any(glob.match(name) for name in names)

    return matches
