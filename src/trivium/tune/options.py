"""What may be changed in a profile: one dimension after the other, each with a few values.

The values are steps of two: finer ones cannot be told apart by the judgements that people have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from trivium.config import SIGNALS, FuseSettings, SearchSettings

Change: TypeAlias = Callable[[SearchSettings], SearchSettings]
Choice: TypeAlias = tuple[int, ...]
"""For each dimension the number of its option; 0 leaves things as they are."""

STEPS = (0.5, 2.0)
DEPTHS = (30, 100, 300)
KS = (10.0, 60.0)  # ranks that differ much, and the constant of the RRF paper
METHODS = ("relative", "dbsf", "blend")


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a dimension; what it is called, and how to get there."""

    label: str
    change: Change


@dataclass(frozen=True, slots=True)
class Dimension:
    """Options beside the present one. `retrieves` says that the legs must be asked again."""

    name: str
    options: tuple[Option, ...]
    retrieves: bool = False


def dimensions(settings: SearchSettings, columns: Collection[str]) -> list[Dimension]:
    """All that can be tuned of a profile; `columns` are those that the library has words in."""
    found = [*_signals(settings)] if settings.score.method == "signals" else [*_fusion(settings)]
    found += [_depth(settings), *_fields(settings, columns)]
    return [one for one in found if one.options]


def changed(settings: SearchSettings, space: list[Dimension], choice: Choice) -> SearchSettings:
    """The settings with the chosen options, in the order of the dimensions."""
    for dimension, at in zip(space, choice, strict=True):
        if at:
            settings = dimension.options[at - 1].change(settings)
    return settings


def labels(space: list[Dimension], choice: Choice) -> list[str]:
    return [one.options[at - 1].label for one, at in zip(space, choice, strict=True) if at]


def _fusion(settings: SearchSettings) -> Iterator[Dimension]:
    fuse, company = settings.fuse, settings.company
    methods = [
        Option(f"search.fuse.method={name}", partial(_by_method, name))
        for name in METHODS
        if name != fuse.method
    ]
    ranks = [
        Option(f"search.fuse.method=rrf, search.fuse.k={k:g}", partial(_by_ranks, k))
        for k in KS
        if (fuse.method, fuse.k) != ("rrf", k)
    ]
    yield Dimension("fusion", (*methods, *ranks))
    for leg in settings.legs:
        given = fuse.weight(leg)
        values = [given * step for step in (0.0, *STEPS)] if len(settings.legs) > 1 else []
        options = (_option(f"fuse.weights.{leg}", value) for value in values if given)
        yield Dimension(f"weight of {leg}", tuple(options))
    if company.weight:
        values = [company.weight * step for step in (0.0, *STEPS)]
        options = (_option("company.weight", value) for value in values)
        yield Dimension("company", tuple(options))


def _by_method(name: str, settings: SearchSettings) -> SearchSettings:
    method: Any = name
    return replace(settings, fuse=replace(settings.fuse, method=method))


def _by_ranks(k: float, settings: SearchSettings) -> SearchSettings:
    """RRF; likeness is left out, which is a share of one beside scores of a sixtieth."""
    fuse: FuseSettings = replace(settings.fuse, method="rrf", k=k)
    return replace(settings, fuse=fuse, company=replace(settings.company, weight=0.0))


def _signals(settings: SearchSettings) -> Iterator[Dimension]:
    for name in SIGNALS:
        if settings.score.weights.get(name) or settings.score.hybrid.get(name):
            options = (
                Option(f"signal {name} × {step:g}", partial(_reweighted, name, step))
                for step in (0.0, *STEPS)
            )
            yield Dimension(f"signal {name}", tuple(options))


def _reweighted(name: str, step: float, settings: SearchSettings) -> SearchSettings:
    """One signal's weight times the step, all of them scaled so that they sum to 1."""

    def scaled(weights: Mapping[str, float]) -> dict[str, float]:
        given = {one: weight * (step if one == name else 1) for one, weight in weights.items()}
        total = sum(given.values())
        if not total:
            return dict(weights)
        rounded = {one: round(weight / total, 4) for one, weight in given.items()}
        largest = max(rounded, key=lambda one: rounded[one])
        rounded[largest] = 1 - sum(w for one, w in rounded.items() if one != largest)
        return rounded

    score = replace(
        settings.score,
        weights=scaled(settings.score.weights),
        hybrid=scaled(settings.score.hybrid),
    )
    return replace(settings, score=score)


def _depth(settings: SearchSettings) -> Dimension:
    now = {getattr(settings, leg).depth for leg in settings.legs}
    options = (
        Option(f"search.….depth={depth}", partial(_deep, depth))
        for depth in DEPTHS
        if now != {depth}
    )
    return Dimension("depth", tuple(options), retrieves=True)


def _deep(depth: int, settings: SearchSettings) -> SearchSettings:
    legs: Any = {leg: replace(getattr(settings, leg), depth=depth) for leg in settings.legs}
    return replace(settings, **legs)


def _fields(settings: SearchSettings, columns: Collection[str]) -> Iterator[Dimension]:
    """Title against body decides; the body itself is what the others are measured by."""
    for leg in settings.legs:
        if leg == "vector":
            continue
        for column, given in getattr(settings, leg).weights.items():
            if given and column != "body" and column in columns:
                path = f"{leg}.weights.{column}"
                options = tuple(_option(path, given * step) for step in STEPS)
                yield Dimension(path, options, retrieves=True)


def _option(path: str, value: Any) -> Option:
    return Option(f"search.{path}={value:g}", partial(_set, path=path, value=value))


def _set(settings: Any, path: str, value: Any) -> Any:
    """Settings, or a table in them, with one value changed."""
    name, _, rest = path.partition(".")
    if isinstance(settings, Mapping):
        return {**settings, name: value}
    inner = _set(getattr(settings, name), rest, value) if rest else value
    return replace(settings, **{name: inner})
