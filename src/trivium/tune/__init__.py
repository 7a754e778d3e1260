"""`trivium tune`: settings chosen by judgements, adopted only if they certainly help."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from trivium.config import Profile, load_profile
from trivium.errors import SourceError
from trivium.evaluate.beir import read_folder
from trivium.evaluate.building import Bench, bench, built
from trivium.evaluate.judged import Judged, Source, judged
from trivium.evaluate.questions import read_questions
from trivium.library import Library
from trivium.protocols import Progress, silent
from trivium.tune.choosing import Runs, Tuning, tuned
from trivium.tune.options import dimensions
from trivium.tune.writing import profile_toml, write_profile
from trivium.types import COLUMNS, NO_FILTER

__all__ = [
    "Runs",
    "Tuning",
    "prepared",
    "profile_toml",
    "tune_feedback",
    "tune_file",
    "tune_folder",
    "tuned",
    "write_profile",
]


def tune_folder(
    folder: str | Path,
    *,
    profile: Profile | None = None,
    queries: str | None = None,
    qrels: str | None = None,
    model: str | None = None,
    progress: Progress = silent,
) -> Tuning:
    """Tune on a BEIR folder; the library it needs is made and kept in the cache folder."""
    given = read_folder(Path(folder), queries, qrels)
    with built(given.documents, model, progress) as made:
        return _tuned(made, given, profile, progress)


def tune_file(
    file: str | Path,
    library: Library,
    *,
    profile: Profile | None = None,
    progress: Progress = silent,
) -> Tuning:
    """Tune on a JSON file of queries and judgements about a library's documents."""
    given = read_questions(Path(file), library)
    with bench(library) as made:
        return _tuned(made, given, profile, progress)


def tune_feedback(
    library: Library, *, profile: Profile | None = None, progress: Progress = silent
) -> Tuning:
    """Tune on what was accepted and dismissed."""
    given = judged_by_use(library)
    with bench(library) as made:
        return _tuned(made, given, profile, progress)


def judged_by_use(library: Library) -> Judged:
    """The log as judgements: what was accepted, or taken up with changes, is relevant.

    The latest verdict about a document counts; a query of which nothing was accepted tells nothing.
    """
    grades: dict[str, dict[str, int]] = {}
    for one in library.judgements():
        if one.query.strip():
            wanted = one.verdict in ("accepted", "modified")
            grades.setdefault(one.query, {})[one.document] = int(wanted)
    kept = {query: found for query, found in grades.items() if any(found.values())}
    if not kept:
        raise SourceError(
            "no query has an accepted document yet; "
            "'trivium feedback accept ID --query …' records one"
        )
    documents = tuple(Source(one.id, one.title, "") for one in library.documents(NO_FILTER))
    return judged("feedback", documents, {query: query for query in kept}, kept)


def _tuned(made: Bench, given: Judged, profile: Profile | None, progress: Progress) -> Tuning:
    with prepared(made, given, profile, progress) as runs:
        found = tuned(runs, given.judgements)
    if found.profile is None:
        return found
    unit = (profile or load_profile(made.library.profile_name)).search.unit
    search = replace(found.profile.search, unit=unit)
    return replace(found, profile=replace(found.profile, search=search))


@contextmanager
def prepared(
    made: Bench, given: Judged, profile: Profile | None = None, progress: Progress = silent
) -> Iterator[Runs]:
    """Everything at hand to try settings on a set: the model is not asked after this."""
    made.prepare(list(given.queries.values()))
    profile = profile or load_profile(made.library.profile_name)
    of_documents = replace(profile, search=replace(profile.search, unit="document"))
    space = dimensions(of_documents.search, _columns(made.library))
    with made.library.searching(of_documents) as search:
        yield Runs(search, given.queries, space, progress)


def _columns(library: Library) -> Collection[str]:
    """The columns that hold words in this library, besides title and body, which always do."""
    documents = library.documents(NO_FILTER)
    found = {"title", "body"}
    for name in ("key", "context", "tags"):
        if any(getattr(one, name) for one in documents):
            found.add(name)
    some = library.get(*(one.id for one in documents[:: max(1, len(documents) // 100)]))
    if any(chunk.heading for one in some for chunk in one.chunks):
        found.add("heading")
    return [name for name in COLUMNS if name in found]
