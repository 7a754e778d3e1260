"""What PostgreSQL says when it refuses, in our words; each message ends with the next step.

Refusals are known by their SQLSTATE: the server's words are in its own language.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg_pool import PoolTimeout

from trivium.errors import (
    InvalidValue,
    LibraryBusy,
    LibraryCorrupt,
    LibraryError,
    LibraryReadOnly,
    LibraryUnavailable,
    ModelMismatch,
    NotALibrary,
    StorageFull,
    TriviumError,
)


@contextmanager
def in_our_words(shown: str) -> Iterator[None]:
    """Turn the server's errors into ours. What breaks a rule of the tables is a fault of ours."""
    try:
        yield
    except (psycopg.IntegrityError, psycopg.NotSupportedError):
        raise
    except psycopg.Error as error:
        raise translated(error, shown) from error


def is_lost(error: BaseException) -> bool:
    """Whether it was the connection that failed, and another one may do."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate[:2] == "08" or error.sqlstate[:3] == "57P"


def translated(error: psycopg.Error, shown: str) -> TriviumError:
    message = first_line(error)
    code = error.sqlstate or ""
    for codes, kind, text in _REFUSALS:
        if code.startswith(codes) and code:
            return kind(text.format(where=shown, message=message))
    if isinstance(error, PoolTimeout):
        return LibraryBusy(f"{shown}: all connections are in use; try again when one is free")
    if is_lost(error):  # libpq's own words: nobody was there to send a code
        return LibraryUnavailable(_LOST.format(where=shown, message=message))
    return LibraryError(f"{shown}: {message}; run 'trivium doctor'")


def first_line(error: psycopg.Error) -> str:
    text = error.diag.message_primary or str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


_LOST = "the connection to {where} was lost ({message}); nothing was half written, try again"

# By SQLSTATE, or how it begins: table A.1 of PostgreSQL's manual.
_REFUSALS: tuple[tuple[tuple[str, ...], type[TriviumError], str], ...] = (
    (
        ("57014",),
        LibraryBusy,
        "{where} gave up: {message}; ask for less, or raise statement_timeout",
    ),
    (
        ("55P03",),
        LibraryBusy,
        "{where} is being written by another process; try again when it is done",
    ),
    (
        ("40",),
        LibraryBusy,
        "{where}: another writer came first ({message}), nothing was written; try again",
    ),
    (
        ("53100",),
        StorageFull,
        "the disk of {where} is full; the last write was undone, free some space",
    ),
    (
        ("53",),
        LibraryBusy,
        "{where} has no room left for this ({message}); try again, or raise the server's limit",
    ),
    (
        ("42501",),
        LibraryReadOnly,
        "{where}: {message}; ask its owner to GRANT it to you",
    ),
    (
        ("25006",),
        LibraryReadOnly,
        "{where} can only be read here (a standby?); write to the primary server",
    ),
    (
        ("3D000",),
        NotALibrary,
        "{where}: {message}; make it with 'createdb', then 'trivium init'",
    ),
    (("28",), LibraryUnavailable, "{where} refused the login ({message}); check user and password"),
    (
        ("08", "57P"),
        LibraryUnavailable,
        _LOST,
    ),
    (
        ("54000",),
        InvalidValue,
        "{where} cannot take a value that long ({message}); shorten the id, uri or name",
    ),
    (  # pgvector's: a value of another dimension, or one that is not a number
        ("22000",),
        ModelMismatch,
        "{where}: {message}; run 'trivium embed'",
    ),
    (("XX001", "XX002"), LibraryCorrupt, "{where} is damaged ({message}); restore it from a copy"),
    (
        ("42P01", "42703"),
        LibraryCorrupt,
        "{where} is not as it was made ({message}); restore it from a copy",
    ),
)
