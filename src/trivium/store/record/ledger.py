"""The verification ledger: rows that are only ever added, each with the hash of the one before."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from trivium.clock import format_time
from trivium.store.record.database import Database, Transaction, repeatable
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One decision or finding, as it was written."""

    number: int
    at: str
    entry: Mapping[str, Any]
    hash: str


class RecordLedger:
    """Appends and proves. A hash is the SHA-256 of the previous one, the time and the entry."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeatable
    def append(self, entries: Sequence[Mapping[str, Any]], now: datetime) -> list[LedgerEntry]:
        with self._database.writing() as transaction:
            return add_to_ledger(transaction, entries, now)

    def entries(self) -> list[LedgerEntry]:
        with self._database.reading() as reader:
            rows = reader.execute("ledger").fetchall()
        return [
            LedgerEntry(row["number"], row["at"], json.loads(row["entry"]), row["hash"])
            for row in rows
        ]

    def audit(self) -> tuple[int, str, list[str]]:
        """How many entries there are, the last hash, and where the chain is broken."""
        with self._database.reading() as reader:
            rows = reader.execute("ledger").fetchall()
            kept = reader.execute("state", ("ledger_head",)).fetchone()
        problems, previous = [], ""
        for nth, row in enumerate(rows, start=1):
            if row["number"] != nth:
                problems.append(f"entry {nth} is missing")
                break
            if row["previous"] != previous:
                problems.append(f"entry {nth} does not follow the one before it")
            if row["hash"] != chained(row["previous"], row["at"], row["entry"]):
                problems.append(f"entry {nth} was changed after it was written")
            previous = row["hash"]
        head = f"{len(rows)} {previous}"
        if (kept["value"] if kept else "0 ") != head and not problems:
            problems.append("entries are missing at the end, or were added by another way")
        return len(rows), previous, problems


def add_to_ledger(
    transaction: Transaction, entries: Sequence[Mapping[str, Any]], now: datetime
) -> list[LedgerEntry]:
    """Append within a transaction that does more than that."""
    added = []
    row = transaction.execute("ledger_head").fetchone()
    number, previous = (row["number"], row["hash"]) if row else (0, "")
    for entry in entries:
        text = json.dumps(entry, sort_keys=True, ensure_ascii=False)
        number, at = number + 1, format_time(now)
        hash = chained(previous, at, text)
        transaction.execute("add_to_ledger", (number, at, text, previous, hash))
        added.append(LedgerEntry(number, at, entry, hash))
        previous = hash
    transaction.execute("set_state", ("ledger_head", f"{number} {previous}"))
    return added


def chained(previous: str, at: str, entry: str) -> str:
    return sha256(f"{previous}\n{at}\n{entry}".encode()).hexdigest()
