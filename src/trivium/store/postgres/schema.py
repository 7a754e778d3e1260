"""What a database must have, and the migrations that make a library of a schema in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, sql

from trivium.errors import LibraryCorrupt, LibraryError, NotALibrary

LEAST_VERSION = 14
EXTENSIONS = {"vector": (0, 8), "pg_trgm": (1, 3)}
"""Iterative scans came with pgvector 0.8; without them a filter would starve a search."""

_HERE = Path(__file__).parent


def missing(connection: Connection[Any]) -> list[str]:
    """What keeps this database from holding a library, and who can change it; only a look."""
    found = []
    version = connection.info.server_version // 10_000
    if version < LEAST_VERSION:
        found.append(
            f"the server is PostgreSQL {version}; its administrator upgrades it to "
            f"{LEAST_VERSION} or later"
        )
    rows = connection.execute(
        "SELECT a.name, coalesce(e.extversion, a.default_version), e.extname IS NOT NULL, "
        "coalesce((SELECT bool_or(v.trusted) FROM pg_available_extension_versions v "
        "WHERE v.name = a.name AND v.version = a.default_version), false) "
        "FROM pg_available_extensions a LEFT JOIN pg_extension e ON e.extname = a.name"
    ).fetchall()
    known = {name: rest for name, *rest in rows}
    row = connection.execute(
        "SELECT rolsuper, has_database_privilege(current_database(), 'CREATE'), current_database() "
        "FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    superuser, may_create, database = row or (False, False, "")
    for name, least in EXTENSIONS.items():
        if name not in known:
            found.append(
                f"the server has no extension '{name}'; its administrator installs the package "
                f"({_PACKAGES[name]}), then a superuser runs: CREATE EXTENSION {name}"
            )
            continue
        installed, there, trusted = known[name]
        if not there and not (superuser or (trusted and may_create)):
            who = f"the owner of database {database}" if trusted else "a superuser"
            found.append(f"extension '{name}' is missing; {who} runs: CREATE EXTENSION {name}")
        elif _numbers(installed) < least:
            wanted = ".".join(map(str, least))
            found.append(
                f"extension '{name}' is {installed} and must be {wanted} or later; "
                f"a superuser runs: ALTER EXTENSION {name} UPDATE"
            )
    return found


_PACKAGES = {"vector": "pgvector", "pg_trgm": "postgresql-contrib"}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def exists(connection: Connection[Any], schema: str) -> bool:
    """Whether the schema holds a library."""
    row = connection.execute(
        "SELECT to_regclass(%s) IS NOT NULL", (f"{schema}.migrations",)
    ).fetchone()
    return bool(row and row[0])


def complete(connection: Connection[Any], shown: str) -> None:
    """An error if an extension is gone without which a library cannot be read."""
    rows = connection.execute("SELECT extname FROM pg_extension").fetchall()
    gone = sorted(set(EXTENSIONS) - {name for (name,) in rows})
    if gone:
        statements = "; ".join(f"CREATE EXTENSION {name}" for name in gone)
        raise LibraryCorrupt(
            f"{shown} is not as it was made: its database has no extension "
            f"{' and '.join(gone)} any more; a superuser runs: {statements}; if something is still "
            "missing then, restore it from a copy"
        )


def search_path(connection: Connection[Any], schema: str) -> None:
    """Look for names in the library, and for types and operators where extensions have theirs."""
    rows = connection.execute(
        "SELECT DISTINCT n.nspname FROM pg_extension e JOIN pg_namespace n "
        "ON n.oid = e.extnamespace WHERE e.extname = ANY(%s) ORDER BY 1",
        (list(EXTENSIONS),),
    ).fetchall()
    names = dict.fromkeys([schema, *(name for (name,) in rows), "pg_catalog"])
    connection.execute(
        sql.SQL("SET search_path TO {}").format(sql.SQL(", ").join(map(sql.Identifier, names)))
    )


def prepare(connection: Connection[Any], schema: str, shown: str) -> None:
    """Make the schema and the extensions, where they are not there and may be made."""
    if problems := missing(connection):
        raise NotALibrary(f"{shown} cannot hold a library: " + "; ".join(problems))
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_EXTENSIONS_LOCK,))
        for name in EXTENSIONS:
            connection.execute(
                sql.SQL("CREATE EXTENSION IF NOT EXISTS {} SCHEMA public").format(
                    sql.Identifier(name)
                )
            )
        connection.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))


_EXTENSIONS_LOCK = 0x7472_6976  # "triv": extensions belong to the database, not to a library


def migrate(connection: Connection[Any], schema: str, shown: str) -> None:
    """Bring the schema up to date: each named migration once, all of them in one transaction."""
    migrations = sorted((_HERE / "migrations").glob("*.sql"))
    names = [migration.stem for migration in migrations]
    if exists(connection, schema) and set(_applied(connection)) == set(names):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (schema,))
        connection.execute(
            'CREATE TABLE IF NOT EXISTS migrations (name text COLLATE "C" PRIMARY KEY)'
        )
        applied = _applied(connection)
        if newer := set(applied) - set(names):
            raise LibraryError(
                f"{shown} was written by a newer Trivium ({max(newer)}); upgrade to open it"
            )
        for name, migration in zip(names, migrations, strict=True):
            if name not in applied:
                script = migration.read_text(encoding="utf-8")
                connection.execute(psycopg.sql.SQL(script))
                connection.execute("INSERT INTO migrations (name) VALUES (%s)", (name,))


def _applied(connection: Connection[Any]) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM migrations")]
