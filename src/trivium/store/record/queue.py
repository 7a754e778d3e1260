"""What waits for a vector and why it failed, and the models that vectors are made for."""

from __future__ import annotations

from collections.abc import Sequence

from trivium.errors import InvalidValue, UnknownModel
from trivium.protocols import Model
from trivium.store.record.database import Database, repeatable
from trivium.store.record.inspect import VECTORS_AT_FAULT
from trivium.store.record.writing import new_generation
from trivium.types import chunk_id


class RecordQueue:
    """The part of the store behind `trivium embed`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @repeatable
    def forgive(self, fingerprint: str) -> None:
        if self.problems(fingerprint, 1) or self.outage(fingerprint):
            with self._database.writing() as transaction:
                transaction.execute("forgive", (fingerprint,))
                transaction.execute("forget_outage", (f"outage {fingerprint}",))

    @repeatable
    def mend(self, fingerprints: Sequence[str]) -> None:
        """Let what has no vector that fits, and does not wait for one, wait for these models."""
        with self._database.reading() as reader:
            wrong = [reader.execute(name).fetchone()[0] for name in VECTORS_AT_FAULT]
        if any(wrong):
            with self._database.writing() as transaction:
                transaction.execute("drop_misfit_vectors")
                for fingerprint in fingerprints:
                    transaction.execute("wait_for_model", (fingerprint,))
                new_generation(transaction, None)

    @repeatable
    def note(self, fingerprint: str, hash: str, problem: str) -> None:
        with self._database.writing() as transaction:
            transaction.execute("note_problem", (problem, hash, fingerprint))

    @repeatable
    def note_outage(self, fingerprint: str, problem: str) -> None:
        with self._database.writing() as transaction:
            values = (f"outage {fingerprint}", problem)
            transaction.execute("set_state", values)

    def problems(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        with self._database.reading() as reader:
            rows = reader.execute("problems", (fingerprint, limit))
            return [
                (chunk_id(row["id"], row["version"], row["ordinal"]), row["problem"])
                for row in rows
            ]

    def outage(self, fingerprint: str) -> str:
        with self._database.reading() as reader:
            row = reader.execute("state", (f"outage {fingerprint}",)).fetchone()
        return row["value"] if row else ""

    def building(self) -> list[Model]:
        with self._database.reading() as reader:
            rows = reader.execute("building").fetchall()
        return [Model(row["name"], row["fingerprint"], row["dimension"], False) for row in rows]

    @repeatable
    def build(self, model: Model) -> None:
        with self._database.writing() as transaction:
            values = (model.name, model.fingerprint, model.dimension)
            transaction.execute("add_model", values)
            transaction.execute("build", (model.fingerprint,))
            transaction.execute("wait_for_model", (model.fingerprint,))
            new_generation(transaction, None)

    @repeatable
    def switch(self, fingerprint: str) -> None:
        with self._database.writing() as transaction:
            (waiting,) = transaction.execute("waits_for_model", (fingerprint,)).fetchone()
            if waiting:
                raise InvalidValue(
                    f"{waiting} texts still wait for their vector of this model; "
                    "'trivium embed' makes them, then switch"
                )
            transaction.execute("deactivate_models")
            if not transaction.execute("activate_model", (fingerprint,)).rowcount:
                raise UnknownModel(
                    f"the library has no model {fingerprint}; 'trivium embed --model' makes one"
                )
            transaction.execute("stop_building", (fingerprint,))
            new_generation(transaction, None)

    @repeatable
    def drop(self, fingerprint: str) -> None:
        with self._database.writing() as transaction:
            transaction.execute("drop_model", (fingerprint,))
            new_generation(transaction, None)
