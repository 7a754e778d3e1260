"""What `status` and `doctor` ask of any database: counts, and whether the tables agree."""

from __future__ import annotations

from typing import Any

from trivium.store.record.database import Database, Transaction

_QUESTIONS = {
    "unindexed_chunks": "active chunks are missing from the word index",
    "orphaned_words": "rows of the word index belong to no active chunk",
    "lost_waiting": "texts have no vector and do not wait for one; run 'trivium embed'",
    "misfit_vectors": "vectors do not have their model's dimension; run 'trivium embed'",
}
VECTORS_AT_FAULT = ("lost_waiting", "misfit_vectors")
"""Those that embedding mends."""


def status(database: Database) -> dict[str, Any]:
    """Counts of what is stored, by kind and scope, and how far the record has come."""
    with database.reading() as reader:
        counts = dict(reader.execute("counts").fetchone())
        (generation,) = reader.execute("generation").fetchone()
        return {
            **counts,
            "kinds": dict(tuple(row) for row in reader.execute("counts_by_kind")),
            "scopes": dict(tuple(row) for row in reader.execute("counts_by_scope")),
            "generation": generation,
            "bytes": database.size(),
            "writable": database.writable,
        }


def consistency(reader: Transaction) -> list[str]:
    """Where the tables contradict each other."""
    problems = []
    for name, meaning in _QUESTIONS.items():
        (count,) = reader.execute(name).fetchone()
        if count:
            problems.append(f"{count} {meaning}")
    return problems
