"""Meaning: cosines by pgvector. Exact where the chunks are few or the grant is not the owner's.

An HNSW graph leads past vectors that a caller may not see, so what it finds depends on them. Only
the owner, who sees everything, is led by it; everybody else's vectors are compared one by one, and
nothing hidden changes an answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from psycopg import Connection, sql

from trivium.store.postgres.adapting import Row, Vector
from trivium.store.postgres.connection import own_statements
from trivium.store.postgres.seeing import Allowed
from trivium.vectors import Floats32, cosines, pack

SQL = own_statements("nearest.sql")

EXACT_BELOW = 20_000
"""Vectors that are compared one by one in about the time that the graph would take."""

FEW = 2_000
"""Chunks that are looked up one by one; more are found by going through all."""

SAMPLE = 1_000
"""Vectors by which mean and deviation are judged where not all are compared: those of the smallest
hashes, which are as good as drawn by lot, and the same each time."""

VECTOR_LIMIT, HALF_LIMIT = 2_000, 4_000
"""Dimensions that an HNSW index takes, of floats and of half floats; beyond, all is compared."""

_STEP = 2.0**-23


@dataclass(frozen=True, slots=True)
class Model:
    """The model whose vectors are searched, by the record's number for it."""

    number: int
    fingerprint: str
    dimension: int

    @classmethod
    def read(cls, connection: Connection[Row], fingerprint: str | None = None) -> Model | None:
        """The active one, or the one of this fingerprint."""
        row = connection.execute(SQL["model"], {"fingerprint": fingerprint}).fetchone()
        return cls(row["number"], row["fingerprint"], row["dimension"]) if row else None

    @property
    def index(self) -> str:
        return f"vectors_of_model_{self.number}"

    @property
    def indexed_type(self) -> str:
        """What the index holds; "" if there can be none."""
        if self.dimension <= VECTOR_LIMIT:
            return "vector"
        return "halfvec" if self.dimension <= HALF_LIMIT else ""


Pairs = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Chunk numbers, and a cosine of each."""


@dataclass(frozen=True, slots=True)
class Rough:
    """float32 products of the query with all allowed vectors, from which exact ones are taken."""

    connection: Connection[Row]
    model: Model
    query: Floats32
    numbers: NDArray[np.int64]
    products: NDArray[np.float64]

    @classmethod
    def of(
        cls, connection: Connection[Row], model: Model, query: Floats32, allowed: Allowed
    ) -> Rough:
        values = {"model": model.number, "query": Vector(pack(query))}
        if allowed.count <= FEW:
            values |= {"numbers": allowed.numbers.tolist()}
            statement = SQL["products_of_few"]
        else:
            values |= {"mask": allowed.bits(), "end": len(allowed.mask)}
            statement = SQL["products_of_many"]
        row = connection.execute(statement, values, binary=True).fetchone()
        pairs = np.frombuffer(row[0] if row and row[0] else b"", [("n", ">i8"), ("p", ">f8")])
        return cls(
            connection, model, query, pairs["n"].astype(np.int64), pairs["p"].astype(np.float64)
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def nearest(self, count: int) -> Pairs:
        """All that can be among the `count` nearest, with their exact cosines."""
        if not len(self):
            return self.numbers, self.products
        place = len(self) - min(count, len(self))
        lowest = float(np.partition(self.products, place)[place])
        # Two sums of float32 are compared, each off by less than dimension · 2⁻²³.
        near = self.products >= lowest - 2 * len(self.query) * _STEP
        return exact(self.connection, self.model, self.query, self.numbers[near])


def vectors(
    connection: Connection[Row], model: Model, numbers: NDArray[np.int64]
) -> dict[int, Floats32]:
    """The vectors of these chunks, by number, as far as they have one."""
    values = {"model": model.number, "numbers": numbers.tolist()}
    found = connection.execute(SQL["vectors_of_numbers"], values, binary=True)
    return {row["number"]: np.frombuffer(row["vector"], "<f4") for row in found}


def exact(
    connection: Connection[Row], model: Model, query: Floats32, numbers: NDArray[np.int64]
) -> Pairs:
    """The cosines of these chunks, the same to the last bit however they were found."""
    found = vectors(connection, model, numbers)
    if not found:
        return np.empty(0, np.int64), np.empty(0)
    return np.array(list(found), np.int64), cosines(np.stack(list(found.values())), query)


# --- the graph -----------------------------------------------------------------------------------


def has_graph(connection: Connection[Row], model: Model) -> bool:
    row = connection.execute(SQL["index_of_model"], {"name": model.index}).fetchone()
    return bool(row and row["valid"])


def make_graph(connection: Connection[Row], model: Model) -> None:
    """Index the vectors of a model, on a connection outside of any transaction.

    The library is searched and written as before meanwhile. One process makes it; another that
    comes while it is being made goes its way, and what a process left half made is made anew.
    """
    if not model.indexed_type:
        return
    row = connection.execute(SQL["begin_graph"], {"name": model.index}).fetchone()
    if not row or not row["free"]:
        return
    try:
        if has_graph(connection, model):
            return
        name = sql.Identifier(model.index)
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(name))
        connection.execute("SET maintenance_work_mem = '512MB'")  # a graph in memory: minutes less
        statement = sql.SQL(
            "CREATE INDEX CONCURRENTLY {name} ON vectors USING hnsw "
            "((vector::{type}({dimension})) {operators}) WITH (m = 16, ef_construction = 128) "
            "WHERE model = {model}"
        )
        connection.execute(
            statement.format(
                name=name,
                type=sql.SQL(model.indexed_type),
                operators=sql.SQL(f"{model.indexed_type}_cosine_ops"),
                dimension=sql.Literal(model.dimension),
                model=sql.Literal(model.number),
            )
        )
    finally:
        connection.execute(SQL["end_graph"], {"name": model.index})


def _width(reach: int) -> int:
    """How many candidates the graph keeps on its way: twice what is wanted, within its limits."""
    return min(1_000, max(200, 2 * reach))


@dataclass(frozen=True, slots=True)
class Graph:
    """The nearest by HNSW, as far out as it takes to have enough of those that are allowed."""

    connection: Connection[Row]
    model: Model
    query: Floats32
    allowed: Allowed
    total: int
    """All chunks that have a vector, allowed or not."""

    def nearest(self, count: int) -> Pairs:
        wanted = min(count, self.allowed.count)
        reach = math.ceil(1.5 * wanted * self.total / max(1, self.allowed.count)) + 10
        while True:
            if reach * 5 > self.total:  # then the graph leads through everything anyway
                return Rough.of(self.connection, self.model, self.query, self.allowed).nearest(
                    count
                )
            found = self._reached(reach)
            near = found[self.allowed.holds(found)]
            if len(near) >= wanted:
                return exact(self.connection, self.model, self.query, near)
            reach *= 4

    def statement(self, reach: int) -> sql.Composed:
        """The chunks of the `reach` nearest vectors; it takes the query's vector."""
        return sql.SQL(
            "SELECT c.number FROM (SELECT hash FROM vectors WHERE model = {model} "
            "ORDER BY vector::{type}({dimension}) <=> {query}::{type}({dimension}) "
            "LIMIT {reach}) v JOIN chunks c ON c.embedding_hash = v.hash "
            "JOIN words w ON w.chunk = c.number"
        ).format(
            model=sql.Literal(self.model.number),
            type=sql.SQL(self.model.indexed_type),
            dimension=sql.Literal(self.model.dimension),
            query=sql.Placeholder(),
            reach=sql.Literal(reach),
        )

    def _reached(self, reach: int) -> NDArray[np.int64]:
        self.connection.execute(SQL["search_the_graph"], {"width": str(_width(reach))})
        query = Vector(pack(self.query))
        found = self.connection.execute(self.statement(reach), (query,), binary=True).fetchall()
        self.connection.execute(SQL["search_as_before"])
        return np.array([row[0] for row in found], np.int64)

    def sample(self) -> NDArray[np.float64]:
        """Rough cosines of some of the allowed chunks."""
        values = {"model": self.model.number, "query": Vector(pack(self.query)), "count": SAMPLE}
        rows = self.connection.execute(SQL["sample"], values, binary=True).fetchall()
        numbers = np.array([row["number"] for row in rows], np.int64)
        products = np.array([row["product"] for row in rows], np.float64)
        return products[self.allowed.holds(numbers)]


def waiting(connection: Connection[Row], model: Model) -> NDArray[np.int64]:
    """The chunks whose vector is still to be made."""
    rows = connection.execute(SQL["waiting_numbers"], {"model": model.number}, binary=True)
    return np.array([row[0] for row in rows], np.int64)
