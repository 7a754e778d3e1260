"""The direction of the imports is the architecture; it is checked here."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "trivium"

LAYERS = [
    {"version", "values"},
    {"errors"},
    {"types", "keys", "factual", "stemmer", "text", "clock", "sources", "deadline", "processors"},
    {"kernels"},
    {"stages", "fusion_settings", "parsing", "vectors"},
    {"protocols", "origins", "config"},
    {"abilities"},
    {"turns"},
    {"settings", "template"},
    {"configuration", "endpoint"},
    {"chat"},
    {
        "index",
        "embed",
        "fuse",
        "graph",
        "company",
        "guard",
        "ingest",
        "retrieve",
        "store",
        "present",
        "pages",
        "compare",
        "freshness",
        "rerank",
        "confidence",
        "context",
        "answering",
        "score",
        "checks",
    },
    {"pipeline"},
    {"why_not"},
    {"library"},
    {"remote"},
    {"opening"},
    {"federation"},
    {"evaluate"},
    {"tune"},
    {"mcp"},
    {"serve"},
    {"cli"},
    {"__main__", "__init__"},
]
WITHIN_LAYER = {
    "text": {"stemmer"},
    "factual": {"types"},
    "keys": {"types"},
    "store": {"index"},
    "rerank": {"confidence"},
    "answering": {"context"},
    "ingest": {"graph"},
}
NO_DATABASE = (
    "fuse.py",
    "company.py",
    "guard.py",
    "pipeline.py",
    "present.py",
    "retrieve",
    "index",
    "score",
    "rerank",
    "confidence.py",
)


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def layer_of(name: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if name in names)


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("trivium"):
            parts = node.module.split(".")
            rooms |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            rooms |= {a.name.split(".")[1] for a in node.names if a.name.startswith("trivium.")}
    return rooms


def test_every_room_has_a_layer() -> None:
    known = set().union(*LAYERS)
    assert {room(path) for path in modules()} - {"profiles"} <= known


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_go_down(path: Path) -> None:
    name = room(path)
    if name == "profiles":
        return
    allowed = set().union(*LAYERS[: layer_of(name)]) | WITHIN_LAYER.get(name, set()) | {name}
    assert imported_rooms(path) <= allowed


def test_ranking_code_knows_no_database() -> None:
    for name in NO_DATABASE:
        place = SOURCE / name
        for path in [place] if place.is_file() else place.rglob("*.py"):
            assert "sqlite3" not in path.read_text(encoding="utf-8"), path


def test_files_stay_on_a_page_of_thought() -> None:
    long = {p.name for p in modules() if len(p.read_text(encoding="utf-8").splitlines()) > 400}
    assert not long
