"""Judgements in the record: written once, counted and read within a grant."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from trivium.clock import format_time
from trivium.store.record.database import Database, repeatable
from trivium.types import VERDICTS, Grant, Judgement, Verdict


class RecordFeedback:
    """The table `feedback`. What is said of a document that is gone counts no more."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeatable
    def record(self, judgements: Sequence[Judgement], now: datetime) -> None:
        at = format_time(now)
        rows = [(at, one.query, one.document, one.verdict) for one in judgements]
        with self._database.writing() as transaction:
            transaction.executemany("add_judgement", rows)

    def counts(self, grant: Grant) -> dict[Verdict, int]:
        counts = dict.fromkeys(VERDICTS, 0)
        with self._database.reading() as reader:
            for row in reader.execute("count_judgements"):
                if grant.allows(row["scope"]):
                    counts[row["verdict"]] += row["judgements"]
        return counts

    def judgements(self, grant: Grant) -> list[Judgement]:
        with self._database.reading() as reader:
            return [
                Judgement(row["document"], row["verdict"], row["query"])
                for row in reader.execute("judgements")
                if grant.allows(row["scope"])
            ]
