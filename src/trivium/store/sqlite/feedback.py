"""Judgements in the record: written once, counted within a grant."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from trivium.clock import format_time
from trivium.store.sqlite.connection import Connections, in_our_words, statements
from trivium.types import VERDICTS, Grant, Judgement, Verdict

_STATEMENTS = Path(__file__).parent / "feedback.sql"


class SqliteFeedback:
    """The table `feedback`. What is said of a document that is gone counts no more."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def record(self, judgements: Sequence[Judgement], now: datetime) -> None:
        at = format_time(now)
        rows = [(at, one.query, one.document, one.verdict) for one in judgements]
        with self._connections.write() as connection:
            connection.executemany(statements(_STATEMENTS)["add_judgement"], rows)

    def counts(self, grant: Grant) -> dict[Verdict, int]:
        counts = dict.fromkeys(VERDICTS, 0)
        with in_our_words(self._connections.path):
            query = statements(_STATEMENTS)["count_judgements"]
            for row in self._connections.reader().execute(query):
                if grant.allows(row["scope"]):
                    counts[row["verdict"]] += row["judgements"]
        return counts
