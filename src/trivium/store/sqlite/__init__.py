"""The default store: SQLite is the record, arrays beside it answer searches."""

from trivium.store.sqlite.inspect import examine_record
from trivium.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "examine_record"]
