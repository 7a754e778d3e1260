"""The files of TREC: judgements (qrels) and runs, in and out; BEIR's judgements too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from trivium.errors import SourceError
from trivium.evaluate.measures import Judgements, Run


def read_qrels(path: Path) -> dict[str, dict[str, int]]:
    """Judgements, either TREC's four columns or BEIR's three with a header.

    A document judged twice for one query, with two grades, is an error.
    """
    judgements: dict[str, dict[str, int]] = {}
    for where, fields in _lines(path):
        match fields:
            case ["query-id", *_]:
                continue
            case [query, id, grade] | [query, _, id, grade]:
                known = judgements.setdefault(query, {})
                if known.setdefault(id, _grade(grade, where)) != _grade(grade, where):
                    raise SourceError(f"{where}: '{id}' was judged otherwise before; keep one")
            case _:
                raise SourceError(
                    f"{where} is not a judgement; write query, document and grade, "
                    "or TREC's query, 0, document and grade"
                )
    return judgements


def write_qrels(judgements: Judgements, path: Path) -> None:
    """Judgements as TREC has them: query, 0, document, grade."""
    lines = [
        f"{_word(query)} 0 {_word(id)} {grade}\n"
        for query, grades in judgements.items()
        for id, grade in grades.items()
    ]
    _write(path, lines)


def read_run(path: Path) -> tuple[str, dict[str, list[str]]]:
    """A run's tag and rankings, ordered as trec_eval does: by score, then by id downwards."""
    scored: dict[str, list[tuple[float, str]]] = {}
    tag = path.stem
    for where, fields in _lines(path):
        match fields:
            case [query, _, id, _, score, tag]:
                scored.setdefault(query, []).append((_number(score, where), id))
            case _:
                raise SourceError(
                    f"{where} is not a line of a run; write query, Q0, document, rank, score, tag"
                )
    if not scored:
        raise SourceError(f"{path} holds no run; it is empty")
    rankings = {}
    for query, pairs in scored.items():
        ranking = [id for _, id in sorted(pairs, reverse=True)]
        if len(set(ranking)) < len(ranking):
            raise SourceError(f"{path}: query '{query}' has a document twice; keep one of them")
        rankings[query] = ranking
    return tag, rankings


def write_run(run: Run, tag: str, path: Path) -> None:
    """A run that every tool puts into our order: readers sort by score, so no two are equal."""
    label = re.sub(r"\s+", "-", tag)
    lines = [
        f"{_word(query)} Q0 {_word(id)} {rank} {len(ranking) + 1 - rank} {label}\n"
        for query, ranking in run.items()
        for rank, id in enumerate(ranking, start=1)
    ]
    _write(path, lines)


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                # BEIR's columns are set apart by tabs, since ids may hold blanks
                fields = line.rstrip("\r\n").split("\t") if "\t" in line else line.split()
                if line.strip():
                    yield f"{path}, line {number}", [field.strip() for field in fields]
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not UTF-8 text ({error}); convert it") from error
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror}") from error


def _write(path: Path, lines: list[str]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), encoding="utf-8")
    except OSError as error:
        raise SourceError(
            f"{path} cannot be written ({error.strerror}); choose another folder"
        ) from error


def _word(id: str) -> str:
    if re.search(r"\s", id) or not id:
        raise SourceError(
            f"'{id}' holds a blank, which TREC's files cannot carry; rename it to write them"
        )
    return id


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise SourceError(f"{where}: '{text}' is not a score; write a number") from error


def _grade(text: str, where: str) -> int:
    value = _number(text, where)
    if not value.is_integer():
        raise SourceError(f"{where}: the grade {text} is not whole; write 0, 1, 2 …")
    return int(value)
