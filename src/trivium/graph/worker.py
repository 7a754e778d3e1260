"""The child that runs one SPARQL query: a request on standard input, the answer on standard output.

It can read one store and nothing else is given to it. Time and memory are bounded by the kernel, so
a query that explodes ends the child and not the library.
"""

from __future__ import annotations

import json
import re
import sys
from itertools import islice
from typing import Any

_SILENT = re.compile(r"<[^<>\s]*>|\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|#[^\n]*")
"""IRIs, texts and comments, in which a word is not a command."""
_SERVICE = re.compile(r"\bSERVICE\b", re.IGNORECASE)


def main() -> None:
    request = json.load(sys.stdin)
    _bounded(request["memory"], request["seconds"])
    json.dump(_run(request), sys.stdout)


def _bounded(memory: int, seconds: float) -> None:
    try:
        import resource
    except ImportError:  # not on Windows; the parent's time-out holds there too
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    computing = int(seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (computing, computing))


def _run(request: dict[str, Any]) -> dict[str, Any]:
    import pyoxigraph as ox

    if _SERVICE.search(_SILENT.sub(" ", request["query"])):
        return {"error": "SERVICE is refused: a query reads this library and calls nobody else"}
    store = ox.Store.read_only(request["store"])
    try:
        found = store.query(
            request["query"],
            prefixes=request["prefixes"],
            use_default_graph_as_union=True,
        )
        return _written(ox, found, request["rows"])
    except SyntaxError as error:
        return {"error": _syntax(request["query"], str(error.msg))}
    except (OSError, RuntimeError, ValueError) as error:
        return {"error": f"the query failed: {error}; correct it"}


def _written(ox: Any, found: Any, most: int) -> dict[str, Any]:
    if isinstance(found, ox.QueryBoolean):
        return {"truth": bool(found)}
    if isinstance(found, ox.QuerySolutions):
        columns = [variable.value for variable in found.variables]
        rows = [[_text(row[name]) for name in columns] for row in islice(found, most + 1)]
    else:
        columns = ["subject", "predicate", "object"]
        rows = [
            [_text(triple.subject), _text(triple.predicate), _text(triple.object)]
            for triple in islice(found, most + 1)
        ]
    return {"truth": None, "columns": columns, "rows": rows[:most], "cut": len(rows) > most}


def _text(term: Any) -> str | None:
    return None if term is None else str(term)


def _syntax(query: str, message: str) -> str:
    start = query.lstrip().upper()
    updates = ("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "COPY", "MOVE", "ADD", "WITH")
    if start.startswith(updates) or any(f" {word} " in f" {start} " for word in updates[:4]):
        return "SPARQL updates are refused: facts change by 'trivium import' and 'trivium remove'"
    return f"the query cannot be read: {message}; correct it"


if __name__ == "__main__":
    main()
