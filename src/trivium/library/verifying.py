"""Verification: what is wrong among the facts, who decided what about it, and the proof of that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from trivium.clock import parse_time
from trivium.config import Profile, load_profile
from trivium.errors import InvalidValue, TriviumError, UnknownName
from trivium.library.facts import Knowing
from trivium.library.versioning import Versioning
from trivium.protocols import Progress
from trivium.types import OWNER, Grant, Pattern, Provenance, Statement, Version
from trivium.values import dataclass

if TYPE_CHECKING:
    from trivium.graph.anomalies import Anomaly
    from trivium.ingest.add import Adding, AddReport
    from trivium.store.record.ledger import LedgerEntry

Decision: TypeAlias = Literal["accepted", "rejected", "superseded"]
_STRIKING = ("rejected", "superseded")
"""Decisions after which the statements do not stand together any more."""


@dataclass(frozen=True, slots=True)
class Verification:
    """An anomaly with what was decided about it; `status` is open until somebody decides."""

    anomaly: Anomaly
    status: str
    history: tuple[LedgerEntry, ...] = ()

    @property
    def id(self) -> str:
        return self.anomaly.id

    def as_json(self, *, whole: bool = True) -> dict[str, Any]:
        """The same as plain data, for every surface.

        The ledger is written by one who sees everything, and it tells when statements that are
        hidden from others came and went. Unless `whole`, only decisions are told of it: what, when,
        by whom and why.
        """
        from trivium.graph.shown import statement_json

        history = [{"at": one.at, "hash": one.hash, **one.entry} for one in self.history]
        kept = ("at", "action", "by", "why")
        decisions = [one for one in history if one["action"] not in ("opened", "vanished")]
        return {
            "id": self.id,
            "kind": self.anomaly.kind,
            "severity": self.anomaly.severity,
            "status": self.status,
            "about": self.anomaly.about,
            "what": self.anomaly.what,
            "statements": [statement_json(statement) for statement in self.anomaly.statements],
            "history": history if whole else [{k: e[k] for k in kept} for e in decisions],
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """Whether the ledger is unbroken; `head` is its last hash, worth writing down elsewhere."""

    entries: int
    head: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The graph through a grant, as detectors ask it."""

    store: Any
    grant: Grant

    def find(self, pattern: Pattern) -> Iterable[Statement]:
        found: Iterable[Statement] = self.store.statements(pattern, self.grant)
        return found

    def predicates(self) -> Sequence[str]:
        names: Sequence[str] = self.store.predicates()
        return names

    def dangling(self, subjects: Collection[str] | None) -> Iterable[Statement]:
        found: Iterable[Statement] = self.store.dangling(subjects, self.grant)
        return found


class Verifying(Knowing, Versioning):
    """What finds conflicts among facts and records decisions."""

    def verifications(
        self,
        *,
        subjects: Collection[str] | None = None,
        profile: str | Profile | None = None,
        grant: Grant = OWNER,
    ) -> list[Verification]:
        """Every conflict among the statements that the grant sees, with what was decided."""
        from trivium.graph.anomalies import anomalies
        from trivium.graph.rules import read_rules

        seen = _Seen(self._store.graph, grant)
        rules = read_rules(seen.find, seen.predicates(), self._profile(profile).search.verify)
        history = self._history()
        return [
            Verification(one, _status(history.get(one.id, ())), tuple(history.get(one.id, ())))
            for one in anomalies(seen, rules, subjects)
        ]

    def settled(self, *, grant: Grant = OWNER) -> list[Verification]:
        """Conflicts that are no more because a decision struck statements, as the ledger tells.

        The ledger tells of every scope, so whoever does not see all of them is told of none.
        """
        if grant.scopes is not None:
            return []
        standing = {one.id for one in self.verifications()}
        gone = {id: told for id, told in self._history().items() if id not in standing}
        struck = {id: told for id, told in gone.items() if _status(told) in _STRIKING}
        return [
            Verification(self._told(told[-1]), _status(told), tuple(told))
            for _, told in sorted(struck.items())
        ]

    def _history(self) -> dict[str, list[LedgerEntry]]:
        history: dict[str, list[LedgerEntry]] = {}
        for entry in self._store.ledger.entries():
            history.setdefault(str(entry.entry["verification"]), []).append(entry)
        return history

    def _told(self, entry: LedgerEntry) -> Anomaly:
        """The conflict as an entry of the ledger describes it."""
        from trivium.graph.anomalies import Anomaly
        from trivium.graph.rdf import quad_of

        said = entry.entry
        uris = sorted({uri for one in said["statements"] for uri, _ in one["sources"]})
        documents, at = self._store.find(uris, OWNER), parse_time(entry.at)

        def source(uri: str, version: int) -> Provenance:
            return Provenance(documents[uri].id if uri in documents else "", uri, version, at)

        statements = (
            Statement(quad_of(one["quad"]), tuple(source(*place) for place in one["sources"]))
            for one in said["statements"]
        )
        about, what = said["about"], said["what"]
        return Anomaly(said["kind"], about, what, said["severity"], tuple(statements))

    def verification(self, id: str, *, grant: Grant = OWNER) -> Verification:
        """One of them by its id, or by the beginning of it, also if it is settled."""
        known = [*self.verifications(grant=grant), *self.settled(grant=grant)]
        found = [one for one in known if one.id.startswith(id)]
        if len(found) != 1:
            problem = "there is no verification" if not found else "several begin with"
            raise UnknownName(f"{problem} '{id}'; 'trivium verify list' shows them")
        return found[0]

    def decide(
        self,
        id: str,
        decision: Decision,
        *,
        by: str,
        why: str,
        statements: Sequence[int] = (),
    ) -> Verification:
        """Record a decision in the ledger, and do to the statements what it says.

        `accepted`: the statements stay as they are. `rejected`: those named (from 1, as `show`
        counts them) are struck. `superseded`: all are struck but the one named. What is struck is
        left out of a new version of its documents, and of every later import.
        """
        one = self.verification(id)
        if one.status != "open":
            raise InvalidValue(f"{one.id} is {one.status} already; the ledger is not rewritten")
        if not by.strip() or not why.strip():
            raise InvalidValue("a decision needs a name and a reason: --by and --why")
        struck = _struck(one, decision, statements)
        entry = _entry(one.anomaly, decision, by, why, struck)
        now = self._now()
        if struck:
            quads = [statement.quad for statement in struck]
            self._store.graph.strike(quads, self._reading(), now, entry)
        else:
            self._store.ledger.append([entry], now)
        self.open_verifications()
        return one

    def audit(self, *, expect: str | None = None) -> Audit:
        """Recompute every hash of the ledger; with `expect`, also find that head in its chain."""
        count, head, problems = self._store.ledger.audit()
        if expect and not any(e.hash == expect for e in self._store.ledger.entries()):
            problems = [*problems, f"no entry has the hash {expect}"]
        return Audit(count, head, tuple(problems))

    def open_verifications(self) -> tuple[str, ...]:
        """Write newly found conflicts into the ledger, and those that are gone; the new ids.

        What a decision struck and a rollback brought back is open again.
        """
        known = {id: _last(told) for id, told in self._history().items()}
        found = {one.id: one.anomaly for one in self.verifications()}
        new = [id for id in sorted(found) if known.get(id, "vanished") in ("vanished", *_STRIKING)]
        gone = [id for id in sorted(known) if known[id] == "opened" and id not in found]
        entries = [_entry(found[id], "opened", "trivium", "", ()) for id in new]
        entries += [
            {"action": "vanished", "by": "trivium", "verification": id, "why": ""} for id in gone
        ]
        if entries:
            self._store.ledger.append(entries, self._now())
        return tuple(new)

    def open_conflicts(self) -> frozenset[str]:
        """The ids that the ledger has as open; nothing is looked for."""
        return frozenset(id for id, told in self._history().items() if _last(told) == "opened")

    def remove_facts(self, pattern: Pattern) -> tuple[int, list[str]]:
        done = super().remove_facts(pattern)
        self.open_verifications()
        return done

    def rollback(self, name: str, version: int | None = None, *, grant: Grant = OWNER) -> Version:
        active = super().rollback(name, version, grant=grant)
        if self._store.graph.predicates():
            self.open_verifications()
        return active

    def _finish(self, adding: Adding, embed: bool, progress: Progress) -> AddReport:
        report = super()._finish(adding, embed, progress)
        if adding.facts and (count := self._opened(report, adding.grant)):
            found = "1 conflict was" if count == 1 else f"{count} conflicts were"
            what = f"{found} found among the facts; 'trivium verify list'"
            report = replace(report, notes=(*report.notes, ("facts", what)))
        return report

    def _opened(self, report: AddReport, grant: Grant) -> int:
        """Open the conflicts that are new, and say how many there are to whoever added the facts.

        Others than the owner are told of conflicts that they see: those which their documents have
        a part in. What is new to the ledger hangs on secrets, too.
        """
        new = self.open_verifications()
        if grant.scopes is None:
            return len(new)
        taken = {*report.added, *report.updated}
        return sum(
            one.status == "open"
            and any(place.document in taken for s in one.anomaly.statements for place in s.sources)
            for one in self.verifications(grant=grant)
        )

    def disputed(
        self, subjects: Collection[str], profile: Profile, grant: Grant
    ) -> dict[str, tuple[str, ...]]:
        """The open verifications that touch each of these subjects."""
        touching: dict[str, list[str]] = {}
        if subjects and profile.search.verify.effect != "off" and self._store.graph.predicates():
            found = self.verifications(subjects=subjects, profile=profile, grant=grant)
            for one in found:
                if one.status == "open":
                    for subject in one.anomaly.touches & set(subjects):
                        touching.setdefault(subject, []).append(one.id)
        return {subject: tuple(ids) for subject, ids in touching.items()}

    def _profile(self, profile: str | Profile | None) -> Profile:
        if isinstance(profile, Profile):
            return profile
        try:
            return load_profile(profile or self.profile_name)
        except TriviumError:  # a library made with a file that is not here
            if profile:
                raise
            return load_profile("worlds")


def _last(history: Sequence[LedgerEntry]) -> str:
    return str(history[-1].entry["action"]) if history else "opened"


def _status(history: Sequence[LedgerEntry]) -> str:
    action = _last(history)
    return "open" if action in ("opened", "vanished") else action


def _struck(one: Verification, decision: Decision, numbers: Sequence[int]) -> tuple[Statement, ...]:
    stated = one.anomaly.statements
    if any(not 1 <= number <= len(stated) for number in numbers):
        raise InvalidValue(f"{one.id} has statements 1 to {len(stated)}; 'trivium verify show'")
    if decision == "accepted":
        if numbers:
            raise InvalidValue("accepting leaves all statements as they are; name none")
        return ()
    if decision == "rejected":
        if not numbers:
            raise InvalidValue("name the statements to strike with --statement")
        return tuple(stated[number - 1] for number in dict.fromkeys(numbers))
    if len(numbers) != 1:
        raise InvalidValue("name the one statement that supersedes the others with --statement")
    return tuple(s for nth, s in enumerate(stated, start=1) if nth != numbers[0])


def _entry(
    anomaly: Anomaly, action: str, by: str, why: str, struck: Sequence[Statement]
) -> dict[str, Any]:
    from trivium.graph.rdf import line

    return {
        "action": action,
        "about": anomaly.about,
        "by": by,
        "effect": [f"struck {line(statement.quad)}" for statement in struck],
        "kind": anomaly.kind,
        "severity": anomaly.severity,
        "statements": [
            {
                "quad": line(one.quad),
                "sources": [[source.uri, source.version] for source in one.sources],
            }
            for one in anomaly.statements
        ],
        "verification": anomaly.id,
        "what": anomaly.what,
        "why": why,
    }
