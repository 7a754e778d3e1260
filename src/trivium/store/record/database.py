"""What a SQL database gives to the record: named statements, run in transactions.

Values are bound by name (`:name`, a mapping) or by place (`?`, a sequence). A list is bound as JSON
and read with `json_each`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from itertools import count
from time import sleep
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from trivium.errors import TriviumError
from trivium.vectors import Floats32

Values = Mapping[str, Any] | Sequence[Any]


class Row(Protocol):
    """A row, whose values have names."""

    def __getitem__(self, name: str, /) -> Any: ...


class Rows(Protocol):
    """What a statement gave: rows that can be taken by name, by place, or apart."""

    @property
    def rowcount(self) -> int:
        """How many rows were written."""

    def __iter__(self) -> Iterator[Any]: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Transaction(Protocol):
    """One consistent state to read from, or one write that happens as a whole."""

    def execute(self, statement: str, values: Values = (), /) -> Rows:
        """Run the statement of this name."""

    def executemany(self, statement: str, values: Iterable[Values], /) -> object:
        """Run it once for each of the values."""

    def vector(self, vector: Floats32, /) -> Any:
        """A vector as it is bound."""

    def floats(self, stored: Any, /) -> Floats32:
        """A vector as it was bound."""

    def roomy(self) -> AbstractContextManager[None]:
        """More memory for a write of millions of rows, where the database wants to be told."""


class Database(Protocol):
    """The tables of one library. Errors come in our words."""

    @property
    def writable(self) -> bool: ...
    def reading(self) -> AbstractContextManager[Transaction]:
        """What the current thread reads in; within a view, the state of that view."""

    def writing(self) -> AbstractContextManager[Transaction]:
        """A transaction: committed as a whole or not at all. One writer at a time."""

    def again(self, error: TriviumError, attempt: int) -> float | None:
        """After how many seconds what was undone or cut off by this error may be tried again;
        None: not at all. `attempt` counts from 0.
        """

    def streaming(self, statement: str, values: Values = (), where: str = "") -> Iterator[Any]:
        """The rows of a statement, a few at a time however many there are.

        `where` takes the place of `{where}` in it; it holds columns and names of values.
        """

    def size(self) -> int:
        """The bytes that the library takes."""

    def compact(self) -> None:
        """Give freed space back, if nobody is in the way."""


class HasDatabase(Protocol):
    """Whatever writes to a database or reads it."""

    @property
    def _database(self) -> Database: ...


Self = TypeVar("Self", bound=HasDatabase)
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


def repeatable(
    ask: Callable[Concatenate[Self, Given], Answer],
) -> Callable[Concatenate[Self, Given], Answer]:
    """A method that is one write, or that only reads: run again from its start where the database
    says so.
    """

    @wraps(ask)
    def asked(self: Self, /, *given: Given.args, **named: Given.kwargs) -> Answer:
        for attempt in count():
            try:
                return ask(self, *given, **named)
            except TriviumError as error:
                pause = self._database.again(error, attempt)
                if pause is None:
                    raise
                sleep(pause)
        raise AssertionError  # it counts for ever

    return asked


def listed(values: Iterable[object]) -> str:
    """A list as a statement takes it."""
    return json.dumps(list(values))


def select(transaction: Transaction, statement: str, values: Iterable[object]) -> list[Any]:
    """The rows of a statement that takes one list."""
    return transaction.execute(statement, (listed(values),)).fetchall()
