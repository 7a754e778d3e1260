"""What waits for a vector and why it failed, and the models that vectors are made for."""

from __future__ import annotations

from pathlib import Path

from trivium.errors import InvalidValue, UnknownModel
from trivium.protocols import Model
from trivium.store.sqlite.connection import Connections, in_our_words, statements
from trivium.store.sqlite.writing import new_generation
from trivium.types import chunk_id

_STATEMENTS = Path(__file__).with_name("queue.sql")


class SqliteQueue:
    """The part of the store behind `trivium embed`."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def forgive(self, fingerprint: str) -> None:
        if self.problems(fingerprint, 1) or self.outage(fingerprint):
            with self._connections.write() as connection:
                connection.execute(_sql("forgive"), (fingerprint,))
                connection.execute(_sql("forget_outage"), (f"outage {fingerprint}",))

    def note(self, fingerprint: str, hash: str, problem: str) -> None:
        with self._connections.write() as connection:
            connection.execute(_sql("note_problem"), (problem, hash, fingerprint))

    def note_outage(self, fingerprint: str, problem: str) -> None:
        with self._connections.write() as connection:
            values = (f"outage {fingerprint}", problem)
            connection.execute(statements()["set_state"], values)

    def problems(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(_sql("problems"), (fingerprint, limit))
            return [
                (chunk_id(row["id"], row["version"], row["ordinal"]), row["problem"])
                for row in rows
            ]

    def outage(self, fingerprint: str) -> str:
        with in_our_words(self._connections.path):
            query = statements()["state"]
            row = self._connections.reader().execute(query, (f"outage {fingerprint}",)).fetchone()
        return row["value"] if row else ""

    def building(self) -> list[Model]:
        with in_our_words(self._connections.path):
            rows = self._connections.reader().execute(_sql("building")).fetchall()
        return [Model(row["name"], row["fingerprint"], row["dimension"], False) for row in rows]

    def build(self, model: Model) -> None:
        with self._connections.write() as connection:
            values = (model.name, model.fingerprint, model.dimension)
            connection.execute(statements()["add_model"], values)
            connection.execute(_sql("build"), (model.fingerprint,))
            connection.execute(statements()["wait_for_model"], (model.fingerprint,))
            new_generation(connection, None)

    def switch(self, fingerprint: str) -> None:
        with self._connections.write() as connection:
            (waiting,) = connection.execute(_sql("waits_for_model"), (fingerprint,)).fetchone()
            if waiting:
                raise InvalidValue(
                    f"{waiting} texts still wait for their vector of this model; "
                    "'trivium embed' makes them, then switch"
                )
            connection.execute(statements()["deactivate_models"])
            if not connection.execute(statements()["activate_model"], (fingerprint,)).rowcount:
                raise UnknownModel(
                    f"the library has no model {fingerprint}; 'trivium embed --model' makes one"
                )
            connection.execute(_sql("stop_building"), (fingerprint,))
            new_generation(connection, None)

    def drop(self, fingerprint: str) -> None:
        with self._connections.write() as connection:
            connection.execute(_sql("drop_model"), (fingerprint,))
            new_generation(connection, None)


def _sql(name: str) -> str:
    return statements(_STATEMENTS)[name]
