"""The error tree. Every message says what is wrong and ends with the next step to take.

    TriviumError
    ├── RequestError              what was asked cannot be answered; exit code 1
    │   ├── EmptyQuery
    │   ├── UnknownName           a scope, leg, profile, model, setting or id that does not exist
    │   │   ├── UnknownModel
    │   │   ├── UnknownDocument
    │   │   └── UnknownSetting
    │   ├── InvalidValue          a value of the right name and the wrong form
    │   ├── MissingLeg            a profile needs a leg that this library does not have
    │   └── MissingExtra          a part of Trivium that is not installed
    ├── SourceError               a file that cannot be read, decoded or parsed
    ├── ModelError
    │   ├── ModelUnavailable      weights, package or server missing; says whether to try again
    │   ├── ModelRefused          the model is there, but will not or cannot embed this text
    │   └── ModelMismatch         vectors of another model or another dimension
    └── LibraryError
        ├── NotALibrary
        ├── LibraryExists
        ├── LibraryCorrupt        the record itself is damaged
        ├── LibraryBusy           another process holds the write lock for too long
        ├── LibraryReadOnly
        ├── LibraryUnavailable    the server that holds it cannot be reached, or lets nobody in
        └── StorageFull

A broken cache is not in the tree: it is rebuilt from the record and reported as a warning.
"""

from __future__ import annotations

from collections.abc import Iterable


class TriviumError(Exception):
    """Anything Trivium reports on purpose; the text is meant for the person who asked."""


class RequestError(TriviumError):
    """What was asked cannot be answered as it stands."""


class EmptyQuery(RequestError):
    """A query without a single character to search for, and no filter to browse by."""


class UnknownName(RequestError):
    """A name that does not exist here."""


class UnknownModel(UnknownName):
    """No embedding model goes by this name."""


class UnknownDocument(UnknownName):
    """No document or chunk that the caller may see has this id."""


class UnknownSetting(UnknownName):
    """A profile or configuration key that nothing reads."""


class InvalidValue(RequestError):
    """A value of the right name and the wrong form."""


class MissingLeg(RequestError):
    """A profile asks for a leg that the library cannot serve."""


class MissingExtra(RequestError):
    """What was asked needs an optional package."""


class SourceError(TriviumError):
    """A file or entry that cannot be taken in; the rest of the batch goes on."""


class ModelError(TriviumError):
    """Something about the embedding model."""


class ModelUnavailable(ModelError):
    """The model's weights, package or server cannot be reached.

    `retryable` says that the same call may succeed a moment later (429, 5xx, a time-out), and
    `retry_after` how many seconds the server asked to wait, None where it did not say.
    """

    def __init__(
        self, message: str, *, retryable: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class ModelRefused(ModelError):
    """The model answered, but not with vectors for these texts (400, 413, 422, or rubbish).

    Other texts may do better: whoever embeds many sets the one at fault apart and goes on.
    """


class ModelMismatch(ModelError):
    """Vectors of another model, or of another dimension, than the library's active one."""


class LibraryError(TriviumError):
    """Something about the library's own files."""


class NotALibrary(LibraryError):
    """The path holds no Trivium library."""


class LibraryExists(LibraryError):
    """There is a library at this path already."""


class LibraryCorrupt(LibraryError):
    """The record (`index.db`) is damaged; `trivium doctor` says what is left."""


class LibraryBusy(LibraryError):
    """Another process holds the write lock."""


class LibraryReadOnly(LibraryError):
    """The library's folder cannot be written."""


class LibraryUnavailable(LibraryError):
    """The server that holds the library cannot be reached, or refuses the login."""


class StorageFull(LibraryError):
    """The disk is full; the last write was undone as a whole."""


class ServerUnavailable(LibraryError):
    """A served library cannot be reached, is too slow, or answers what is no answer."""


class ServerRefused(LibraryError):
    """A served library wants a key, another key, or one that may do more."""


def command(*words: object) -> str:
    """A command to try next, as it can be pasted into a shell: `'trivium init notes.trivium'`."""
    from shlex import join  # a start without a mistake does not wait for it

    plain = " ".join(["trivium", *map(str, words)])
    quoted = join(["trivium", *map(str, words)])
    return f"'{plain}'" if plain == quoted else quoted


def install(extra: str) -> str:
    """The next step where an optional package is missing. Trivium is installed from its clone."""
    return f"run pip install '.[{extra}]' in the folder of Trivium's source"


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint such as " Did you mean 'scope'?", or "" when nothing known is close."""
    from difflib import get_close_matches  # a start without a mistake does not wait for it

    matches = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{matches[0]}'?" if matches else ""
