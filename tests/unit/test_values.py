"""Our dataclass is the standard one in all but the time it takes to define."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace

import pytest

from trivium import values
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class Ours:
    """A value with every kind of field there is."""

    name: str
    size: int = 3
    tags: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False, compare=False)
    length: int = field(init=False)
    kind: str = field(init=False, default="thing")

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    """The same by the standard library."""

    name: str
    size: int = 3
    tags: list[str] = field(default_factory=list)
    secret: str = field(default="", repr=False, compare=False)
    length: int = field(init=False)
    kind: str = field(init=False, default="thing")

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", len(self.name))


@dataclass(frozen=True, slots=True)
class Key:
    """A value that is hashed."""

    a: str
    b: int = 0


@dataclass(frozen=True, slots=True)
class Longer(Key):
    """A value with one field more."""

    c: str = "c"


def test_what_is_made_is_the_same() -> None:
    ours, theirs = Ours("axe", tags=["x"]), Theirs("axe", tags=["x"])
    assert asdict(ours) == asdict(theirs)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert [f.name for f in fields(ours)] == [f.name for f in fields(theirs)]
    assert Ours.__match_args__ == Theirs.__match_args__
    assert is_dataclass(Ours)
    assert not hasattr(ours, "__dict__")


def test_each_gets_defaults_of_its_own() -> None:
    assert Ours("a").tags is not Ours("a").tags
    assert Ours("a").size == 3
    assert Ours("a", 4, ["t"], "s").secret == "s"


def test_missing_and_unknown_arguments_are_errors() -> None:
    with pytest.raises(TypeError, match=r"Ours\.__init__\(\) missing .*'name'"):
        Ours()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        Ours("a", colour="red")  # type: ignore[call-arg]


def test_equality_and_hash_are_those_of_the_values() -> None:
    assert Ours("a", secret="x") == Ours("a", secret="y")
    assert Ours("a") != Ours("b")
    assert Key("a", 1).__eq__(("a", 1)) is NotImplemented
    assert Key("a", 1) != Longer("a", 1)
    assert hash(Key("a", 1)) == hash(Key("a", 1))
    assert {Key("a"), Key("a", 0), Key("b")} == {Key("b"), Key("a")}
    with pytest.raises(TypeError, match="unhashable"):
        hash(Ours("a"))


def test_nothing_can_be_changed() -> None:
    value = Longer("a")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'a'"):
        value.a = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'c'"):
        del value.c
    assert replace(value, c="d") == Longer("a", 0, "d")


def test_it_is_replaced_as_the_standard_library_does_it() -> None:
    ours = Ours("axe", tags=["x"], secret="s")
    assert asdict(values.replace(ours, name="battle", size=4)) == asdict(
        replace(ours, name="battle", size=4)
    )
    assert values.replace(ours).secret == "s"
    assert values.replace(Key("a"), b=2) == Key("a", 2)


def test_it_is_copied_and_pickled() -> None:
    value = Ours("axe", tags=["x"], secret="s")
    for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert asdict(twin) == asdict(value)


def test_another_kind_of_class_is_refused() -> None:
    with pytest.raises(TypeError, match="only frozen, slotted classes"):
        dataclass(frozen=True, slots=False)
