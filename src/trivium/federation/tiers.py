"""Which libraries are searched together, and what each counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trivium.errors import InvalidValue, UnknownName, nearest
from trivium.settings import Configuration

PRIORITIES: Mapping[str, float] = {"agent": 1.0, "project": 0.8, "team": 0.6}
OTHER_PRIORITY = 0.5
"""Of a tier with a name of its own: an external library counts half until somebody says more."""


@dataclass(frozen=True, slots=True)
class Tier:
    """A library with a name and a priority; None is the one that document 004 gives the name."""

    name: str
    library: Path | str
    priority: float | None = None
    key_variable: str = ""
    time_out: float = 30.0

    @property
    def factor(self) -> float:
        """What its scores are multiplied by."""
        if self.priority is not None:
            return self.priority
        return PRIORITIES.get(self.name.casefold(), OTHER_PRIORITY)


def configured(configuration: Configuration, names: Collection[str] = ()) -> list[Tier]:
    """The tiers of the settings, or only the named ones; a path is relative to its file."""
    settings = configuration.settings.tiers
    if not settings:
        raise InvalidValue(
            'no tiers are set; write [tiers.agent] with library = "…" into your trivium.toml, '
            "which 'trivium config path' shows"
        )
    for name in names:
        if name not in settings:
            hint = nearest(name, settings) or f" There are: {', '.join(settings)}."
            raise UnknownName(f"there is no tier '{name}'.{hint}")
    tiers = []
    for name, one in settings.items():
        if not one.library:
            raise InvalidValue(f"tiers.{name}.library is not set; name the library's folder")
        if "://" in one.library:
            tier = Tier(name, one.library, one.priority, one.key_variable, one.time_out)
            tiers.append(tier)
            continue
        origin = Path(configuration.origins.get(("tiers", name, "library"), ""))
        base = origin.parent if origin.is_absolute() else Path()
        tiers.append(Tier(name, base / Path(one.library).expanduser(), one.priority))
    return [tier for tier in tiers if not names or tier.name in names]


def in_order(tiers: Sequence[Tier]) -> list[Tier]:
    """Highest priority first, equal ones by name; wrong priorities and names twice are errors."""
    seen: set[str] = set()
    for tier in tiers:
        if tier.name.casefold() in seen:
            raise InvalidValue(f"there are two tiers named '{tier.name}'; rename one of them")
        if not tier.name.strip():
            raise InvalidValue("a tier has no name; give it one, such as project")
        if not 0 < tier.factor <= 1:
            raise InvalidValue(
                f"the priority of tier '{tier.name}' must be above 0 and at most 1, "
                f"not {tier.factor:g}; agent has 1, project 0.8, team 0.6"
            )
        seen.add(tier.name.casefold())
    return sorted(tiers, key=lambda tier: (-tier.factor, tier.name))
