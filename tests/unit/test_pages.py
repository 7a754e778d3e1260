"""Pages and counts: nothing dropped, nothing twice, and counts that a recount confirms."""

from __future__ import annotations

import base64
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import trivium
from trivium.errors import InvalidValue
from trivium.library import Library
from trivium.types import Filter, Grant, Hit, Result

WORDS = ["axe", "sword", "king", "road", "fire"]
SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=25)
entries = st.lists(
    st.fixed_dictionaries(
        {
            "title": st.sampled_from(WORDS),
            "description": st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
            "tags": st.lists(st.sampled_from(["red", "blue"]), unique=True),
            "scope": st.sampled_from(["all", "dm-only"]),
            "category": st.sampled_from(["rules", "lore"]),
            "severity": st.sampled_from(["critical", "warning"]),
        }
    ),
    min_size=1,
    max_size=25,
)


def filled(folder: str, given_entries: list[dict[str, object]]) -> Library:
    library = trivium.init(Path(folder) / "t.trivium", model="hashing")
    library.add_entries([{"id": f"e{i:02}", **one} for i, one in enumerate(given_entries)])
    return library


def pages(library: Library, query: str, size: int, **options: object) -> Iterator[Result]:
    cursor = None
    while True:
        page = library.search(query, limit=size, cursor=cursor, **options)  # type: ignore[arg-type]
        yield page
        cursor = page.next_cursor
        if cursor is None:
            return


def shown(hits: tuple[Hit, ...]) -> list[tuple[int, str, float]]:
    return [(hit.rank, hit.id, hit.score) for hit in hits]


@given(entries, st.integers(1, 7), st.sampled_from(["default", "allcodex", "jicklejime"]))
@SLOW
def test_pages_concatenated_equal_one_page(
    given_entries: list[dict[str, object]], size: int, profile: str
) -> None:
    with tempfile.TemporaryDirectory() as folder, filled(folder, given_entries) as library:
        for query, filter in (("axe king", Filter()), ("", Filter(category=("rules",)))):
            whole = library.search(query, limit=20, profile=profile, filter=filter)
            several = pages(library, query, size, profile=profile, filter=filter)
            together = [one for page in several for one in shown(page.hits)]
            assert together[:20] == shown(whole.hits)


@given(entries, st.sampled_from([Grant(), Grant(frozenset())]))
@SLOW
def test_totals_and_facets_equal_a_recount(
    given_entries: list[dict[str, object]], grant: Grant
) -> None:
    with tempfile.TemporaryDirectory() as folder, filled(folder, given_entries) as library:
        result = library.search("axe king", limit=1000, facets=True, grant=grant)
        documents = [hit.document for hit in result]
        assert result.total == len(documents)
        assert result.facets is not None
        for name in ("category", "scope", "severity", "kind"):
            assert result.facets[name] == Counter(getattr(d, name) for d in documents)
        assert result.facets["tags"] == Counter(tag for d in documents for tag in d.tags)
        assert result.facets["source"] == Counter("entry" for _ in documents)
        visible = [e for e in given_entries if grant.allows(str(e["scope"]))]
        holding = [e for e in visible if {"axe", "king"} & _words(e)]
        assert result.matched == len(holding)


def _words(entry: dict[str, object]) -> set[str]:
    return set(f"{entry['title']} {entry['description']}".split())


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    numbered = [{"title": f"axe {i}", "description": "an axe " * (i + 1)} for i in range(12)]
    with filled(str(tmp_path), numbered) as made:  # type: ignore[arg-type]
        yield made


def test_a_write_in_between_is_said_and_the_pages_go_on(library: Library) -> None:
    first = library.search("axe", limit=4)
    library.add_text("another axe", title="new", id="new")
    second = library.search("axe", limit=4, cursor=first.next_cursor)
    assert any("changed since the first page" in text for text in second.warnings)
    last = first.hits[-1]
    assert all((-hit.score, hit.id) > (-last.score, last.id) for hit in second)
    assert [hit.rank for hit in second] == [5, 6, 7, 8]


def test_a_cursor_belongs_to_its_search(library: Library) -> None:
    cursor = library.search("axe", limit=4).next_cursor
    for other in ({"query": "king"}, {"profile": "allcodex"}, {"filter": Filter(kind=("note",))}):
        with pytest.raises(InvalidValue, match="begin again without one"):
            library.search(**{"query": "axe", "cursor": cursor, **other})  # type: ignore[arg-type]
    for rubbish in ("", "x", "☃", "bm90IGpzb24", "WzEsMl0"):
        with pytest.raises(InvalidValue, match="not a cursor"):
            library.search("axe", cursor=rubbish)


def test_the_last_page_has_no_cursor(library: Library) -> None:
    assert [len(page) for page in pages(library, "axe", 5)] == [5, 5, 2]


def test_fifty_asked_gives_fifty_where_fifty_match(tmp_path: Path) -> None:
    many_chunks = "\n\n".join(
        f"## Part {i}\n\nThe axe of part {i}. " + "Filler. " * 120 for i in range(60)
    )
    (tmp_path / "big.md").write_text(f"# Big\n\n{many_chunks}")
    for i in range(49):
        (tmp_path / f"n{i}.md").write_text(
            f"# Note {i}\n\nA sentence that names an axe once, at {i}."
        )
    with trivium.init(tmp_path / "t.trivium", model="none") as library:
        library.add(tmp_path)
        assert len(library.search("axe", limit=50)) == 50


def test_browsing_by_pages_loses_no_document_whatever_the_ids(tmp_path: Path) -> None:
    with trivium.init(tmp_path / "t.trivium", model="none") as library:
        for id in ("a", "a-b", "a@2", "b"):
            library.add_text("An axe.", title="axe", id=id, category="items")
        found = pages(library, "", 1, filter=Filter(category=("items",)))
        assert sorted(hit.id for page in found for hit in page) == ["a", "a-b", "a@2", "b"]


def test_a_hidden_write_changes_no_byte_of_a_public_page(library: Library) -> None:
    public = Grant(frozenset())
    before = library.search("axe", limit=4, grant=public)
    library.add_text("a hidden axe", title="secret", id="secret", scope="dm-only")
    after = library.search("axe", limit=4, grant=public)
    assert (after.next_cursor, after.hits) == (before.next_cursor, before.hits)
    second = library.search("axe", limit=4, grant=public, cursor=before.next_cursor)
    assert second.warnings == ()


@pytest.mark.parametrize(
    ("place", "value"),
    [(1, 1e400), (2, {"keyword": "5"}), (2, {"keyword": 10**18}), (2, []), (3, -1), (4, "x")],
)
def test_a_cursor_that_was_tampered_with_is_refused(
    library: Library, place: int, value: object
) -> None:
    cursor = library.search("axe", limit=4, legs=["keyword"]).next_cursor
    assert cursor is not None
    values = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    values[place] = value
    forged = base64.urlsafe_b64encode(json.dumps(values).encode()).decode()
    if (place, value) == (2, {"keyword": "5"}):  # a number all the same
        assert library.search("axe", limit=4, legs=["keyword"], cursor=forged).hits
        return
    with pytest.raises(InvalidValue, match="cursor"):
        library.search("axe", limit=4, legs=["keyword"], cursor=forged)
