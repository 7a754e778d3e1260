"""Files on their way to a server: which ones, and what became of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from trivium.errors import InvalidValue, SourceError
from trivium.ingest.files import SUFFIXES, walk
from trivium.ingest.report import AddReport
from trivium.remote.answered import count, record, several, text, texts


def to_send(paths: Iterable[str | Path]) -> list[Path]:
    """The files that are meant: those named, and below folders those that can be read.

    The server knows a file by its name alone, so two of one name are an error.
    """
    files: dict[str, Path] = {}
    for given in map(Path, paths):
        if not given.exists():
            raise SourceError(f"there is nothing at {given}; check the path")
        below = (one for one in walk(given) if one.suffix.lower() in SUFFIXES)
        for file in below if given.is_dir() else [given]:
            before = files.setdefault(file.name, file)
            if before != file:
                raise InvalidValue(
                    f"{before} and {file} have one name, and a served library knows files by "
                    "their names; rename one, or add them where the library lies"
                )
    return list(files.values())


def report_of(data: Any) -> AddReport:
    """What the server says it did with a file."""
    told = record(data)
    return AddReport(
        **{name: texts(told[name]) for name in _NAMES},
        errors=_pairs(told["errors"]),
        notes=_pairs(told["notes"]),
        waiting=count(told["waiting"]),
        model_problem=text(told["model_problem"]),
        blob_problem=text(told["blob_problem"]),
    )


_NAMES = ("added", "updated", "unchanged", "renamed", "missing", "removed", "skipped")


def _pairs(data: Any) -> tuple[tuple[str, str], ...]:
    return tuple((text(one["name"]), text(one["message"])) for one in several(data, record))


def joined(reports: Sequence[AddReport]) -> AddReport:
    """Several reports as one; what waits is what waited last."""
    whole = AddReport()
    for one in reports:
        lists = {
            field.name: (*getattr(whole, field.name), *getattr(one, field.name))
            for field in fields(one)
            if isinstance(getattr(one, field.name), tuple)
        }
        whole = replace(
            whole,
            **lists,
            waiting=one.waiting,
            model_problem=one.model_problem or whole.model_problem,
            blob_problem=one.blob_problem or whole.blob_problem,
        )
    return whole
