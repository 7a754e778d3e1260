"""BEIR folders: `corpus.jsonl`, `queries*.jsonl` and `qrels/*.tsv`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trivium.errors import SourceError
from trivium.evaluate.judged import Judged, Source, judged
from trivium.evaluate.trec import read_qrels

DEFAULT_QRELS = "test"


def read_folder(folder: Path, queries: str | None = None, qrels: str | None = None) -> Judged:
    """The set in a BEIR folder.

    `queries` names `queries_NAME.jsonl` (or the file itself), `qrels` names `qrels/NAME.tsv`, or
    a file of TREC judgements. Where only one is named, the other is the one of the same name if
    there is one, else `queries.jsonl` and `qrels/test.tsv`.
    """
    corpus = folder / "corpus.jsonl"
    if not corpus.is_file() or not list(folder.glob("queries*.jsonl")):
        raise SourceError(
            f"{folder} is not a BEIR folder: it needs corpus.jsonl, queries.jsonl and "
            "qrels/test.tsv; see 'trivium eval --help'"
        )
    queries_file = _queries_file(folder, queries, qrels)
    qrels_file = _qrels_file(folder, qrels, queries_file)
    variant = queries_file.stem.removeprefix("queries").lstrip("_")
    if qrels and Path(qrels).stem not in (variant, DEFAULT_QRELS):
        variant = "-".join(filter(None, (variant, Path(qrels).stem)))
    # queries.jsonl holds what its judgements name; a variant of them may hold fewer
    own = queries_file.stem == "queries" or qrels_file.stem == variant
    return judged(
        f"{folder.resolve().name}/{variant}" if variant else folder.resolve().name,
        tuple(_documents(corpus)),
        _read_queries(queries_file),
        read_qrels(qrels_file),
        strict=own,
    )


def _queries_file(folder: Path, name: str | None, qrels: str | None) -> Path:
    files = {path.stem: path for path in sorted(folder.glob("queries*.jsonl"))}
    if name is None:
        same = f"queries_{qrels}"
        stem = same if same in files else "queries"
    else:
        stem = name.removesuffix(".jsonl")
        stem = stem if stem in files else f"queries_{stem}"
    if stem not in files:
        raise _no_such(folder, f"{name or stem}.jsonl", [path.name for path in files.values()])
    return files[stem]


def _qrels_file(folder: Path, name: str | None, queries: Path) -> Path:
    files = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    if name is None:
        same = queries.stem.removeprefix("queries_")
        name = same if same in files else DEFAULT_QRELS
        if name not in files and len(files) == 1:
            [name] = files
    elif name not in files and Path(name).is_file():
        return Path(name)
    stem = name.removesuffix(".tsv")
    if stem not in files:
        raise _no_such(folder / "qrels", f"{stem}.tsv", [path.name for path in files.values()])
    return files[stem]


def _no_such(folder: Path, name: str, files: list[str]) -> SourceError:
    there = f"choose one of {', '.join(files)}" if files else "put the file there"
    return SourceError(f"{folder} has no {name}; {there}")


def _documents(path: Path) -> Iterator[Source]:
    seen: set[str] = set()
    for where, row in _rows(path):
        id = _text(row, "_id", where)
        if id in seen:
            raise SourceError(f"{where}: the id '{id}' was given before; ids must differ")
        seen.add(id)
        yield Source(id, str(row.get("title") or ""), _text(row, "text", where))


def _read_queries(path: Path) -> dict[str, str]:
    return {_text(row, "_id", where): _text(row, "text", where) for where, row in _rows(path)}


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line's place, for messages, and what it says."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if not line.strip():
                    continue
                where = f"{path}, line {number}"
                row = _parsed(line, where)
                if not isinstance(row, dict):
                    raise SourceError(f"{where} is not a JSON object; one is needed on each line")
                yield where, row
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8 text ({error}); convert it") from error
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error


def _parsed(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        reason = f"{error.msg}, column {error.colno}"
        raise SourceError(f"{where} is not JSON ({reason}); mend or remove it") from error


def _text(row: dict[str, Any], key: str, where: str) -> str:
    value = row.get(key)
    if isinstance(value, int) and key == "_id":
        return str(value)
    if not isinstance(value, str) or (key == "_id" and not value):
        raise SourceError(f"{where} has no '{key}'; add it as a text")
    return value
