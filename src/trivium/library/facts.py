"""Facts: statements in and out, what is stated around a subject, what is removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from trivium.errors import InvalidValue, LibraryExists, SourceError, UnknownName
from trivium.library.filling import Filling
from trivium.protocols import Progress, silent
from trivium.store.record.database import repeatable
from trivium.text import content_hash
from trivium.types import OWNER, Grant, Pattern, Quad, Result, Statement
from trivium.values import dataclass

if TYPE_CHECKING:
    from trivium.graph.around import Around
    from trivium.graph.sparql import Answer
    from trivium.ingest.add import AddReport


MOST_APART = 5  # more candidates than that help nobody to choose
DEEPEST = 5  # each step may lead to everything; more is a question for SPARQL
MOST_FACTS = 10_000


@dataclass(frozen=True, slots=True)
class FactsReport:
    """What an export of facts wrote; `flattened` statements lost the name of their graph."""

    statements: int
    flattened: int = 0


class Knowing(Filling):
    """What a library knows as statements."""

    def import_facts(
        self,
        *paths: str | Path,
        base: str | None = None,
        scope: str | None = None,
        category: str | None = None,
        tags: Sequence[str] = (),
        reprocess: bool = False,
        embed: bool = True,
        progress: Progress = silent,
    ) -> AddReport:
        """Take in files of RDF: Turtle, N-Triples, N-Quads, TriG, JSON-LD or RDF/XML.

        Each file is a document and each import of other content a version of it. A file with a
        mistake is named in the report, and nothing of it is stored.
        """
        from trivium.graph.rdf import FORMATS, is_facts

        for name in paths:
            if not is_facts(Path(name)):
                known = ", ".join(FORMATS)
                raise SourceError(f"{name} is no file of facts; their names end in {known}")
        adding = self._adding(
            scope, category, tags, reprocess=reprocess, progress=progress, base=base
        )
        for path in paths:
            adding.path(Path(path))
        return self._finish(adding, embed, progress)

    def export_facts(
        self,
        path: str | Path,
        pattern: Pattern = Pattern(),  # noqa: B008  # frozen
        *,
        force: bool = False,
        grant: Grant = OWNER,
    ) -> FactsReport:
        """Write the statements that a pattern leaves; the path's ending names the format."""
        from trivium.graph.rdf import write

        target = Path(path)
        if target.exists() and not force:
            raise LibraryExists(f"{target} is there already; choose another name or --force")
        with_graphs = target.suffix.lower() in (".nq", ".trig", ".jsonld")
        flattened = 0

        def quads() -> Iterator[Quad]:
            nonlocal flattened
            for statement in self.statements(pattern, grant=grant):
                flattened += bool(statement.quad.graph) and not with_graphs
                yield statement.quad

        beside = target.with_name(f".{target.name}.part")
        try:
            with beside.open("wb") as file:
                count = write(quads(), file, target.suffix, self.prefixes(grant=grant))
            beside.replace(target)
        except OSError as error:
            raise InvalidValue(f"{target} cannot be written: {error.strerror}") from error
        finally:
            beside.unlink(missing_ok=True)
        return FactsReport(count, flattened)

    def statements(
        self,
        pattern: Pattern = Pattern(),  # noqa: B008  # frozen
        *,
        grant: Grant = OWNER,
    ) -> Iterator[Statement]:
        """What is stated and visible, with where it was read."""
        pattern = self._expanded(pattern, grant)
        return self._store.graph.statements(pattern, grant)

    def remove_facts(self, pattern: Pattern) -> tuple[int, list[str]]:
        """Take statements out: new versions of the documents that state them, without them.

        How many statements went, and of which documents. A rollback brings them back.
        """
        if pattern == Pattern():
            raise InvalidValue("name a subject, predicate, object, graph or source to remove")
        quads = [statement.quad for statement in self.statements(pattern)]
        changed = self._store.graph.strike(quads, self._reading(), self._now()) if quads else []
        self._store.settle()
        return len(quads), changed

    def predicates(self) -> list[str]:
        """Every property that any statement has, in order."""
        return self._store.graph.predicates()

    @repeatable
    def facts(
        self, subject: str, *, depth: int = 1, limit: int = 100, grant: Grant = OWNER
    ) -> Around:
        """What is stated around a subject, outward and inward, up to a depth and a size."""
        from trivium.graph.around import Around, about, around

        if not 1 <= depth <= DEEPEST or not 1 <= limit <= MOST_FACTS:
            raise InvalidValue(
                f"facts are shown up to depth {DEEPEST} and {MOST_FACTS} at a time; ask for less"
            )
        resource = self.resolve(subject, grant=grant)
        graph = self._store.graph

        def find(pattern: Pattern) -> Iterator[Statement]:
            return graph.statements(pattern, grant)

        found, cut = around(resource, find, depth, limit)
        documents = graph.documents_about(resource, grant)
        if not found and not documents:
            raise UnknownName(
                f"nothing is stated about {resource}; 'trivium search' finds subjects"
            )
        quads = [statement.quad for statement in found]
        names = {name for q in quads for name in (q.subject, q.predicate, q.object)}
        labels = graph.labels(sorted(names), self._reading(), grant)
        return Around(resource, found, labels, cut, about(found, find), documents)

    def told_apart(self, result: Result, grant: Grant) -> Result:
        """Entities of one name, or that compete by score, and what tells them apart."""
        from trivium.graph.apart import namesakes, told_apart

        order = list(dict.fromkeys(h.chunk.subject for h in result.hits if h.chunk.subject))
        labels = self._store.graph.labels(order, self._reading(), grant)
        competing = [one for one in result.ambiguous if one in order]
        first = result.hits[0].chunk.subject
        same = namesakes(order, labels) if order[0] == first else ()
        entities = tuple(dict.fromkeys((*same, *competing)))[:MOST_APART]
        if len(entities) < 2:
            return result
        found = told_apart(entities, labels, lambda p: self._store.graph.statements(p, grant))
        ambiguous = tuple(dict.fromkeys((*same, *result.ambiguous)))
        return replace(result, ambiguous=ambiguous, told_apart=tuple(map(asdict, found)))

    def sparql(
        self,
        query: str,
        *,
        seconds: float = 10.0,
        rows: int = 1_000,
        grant: Grant = OWNER,
    ) -> Answer:
        """Answer a SPARQL 1.1 query over what is visible; updates and SERVICE are refused.

        It runs in another process and is stopped when its time is over.
        """
        from trivium.graph.sparql import ask, fill

        if not 0 < seconds <= 3600 or not 1 <= rows <= 1_000_000:
            raise InvalidValue("a query may take up to 3600 seconds and give 1,000,000 rows")
        scopes = "*" if grant.scopes is None else "\x1f".join(sorted(grant.scopes))
        graph = self._store.graph
        kept = f"{content_hash(scopes)[:12]}-{graph.stamp(grant)[:20]}"
        statements = graph.statements(Pattern(), grant)
        with self._room() as room:
            folder = room / kept
            fill(folder, (statement.quad for statement in statements))
            return ask(folder, query, self.prefixes(grant=grant), seconds, rows)

    @contextmanager
    def _room(self) -> Iterator[Path]:
        """Where the stores of queries are kept: in the cache, or nowhere for long."""
        cache = self._home.cache()
        if cache:
            yield cache / "graph"
            return
        with TemporaryDirectory(prefix="trivium-") as folder:
            yield Path(folder)

    def prefixes(self, *, grant: Grant = OWNER) -> dict[str, str]:
        """The prefixes that imported files declare."""
        return self._store.graph.prefixes(grant)

    def resolve(self, name: str, *, grant: Grant = OWNER) -> str:
        """The IRI of a prefixed name or of an IRI as it is written."""
        from trivium.graph.names import expand

        return expand(name, self.prefixes(grant=grant))

    def _expanded(self, pattern: Pattern, grant: Grant) -> Pattern:
        from trivium.graph.names import expand_pattern

        return expand_pattern(pattern, self.prefixes(grant=grant))
