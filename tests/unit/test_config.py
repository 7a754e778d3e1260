"""Profiles are checked data: every wrong word is named, with the nearest right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from trivium.config import load_profile, profile_names
from trivium.errors import InvalidValue, UnknownName, UnknownSetting


def test_every_shipped_profile_loads() -> None:
    assert "default" in profile_names()
    for name in profile_names():
        assert load_profile(name).description


def test_overrides_are_laid_over_the_profile() -> None:
    profile = load_profile("default", ["search.fuse.k=30", "search.keyword.join=and"])
    assert (profile.search.fuse.k, profile.search.keyword.join) == (30, "and")


@pytest.mark.parametrize(
    ("override", "error", "message"),
    [
        ("search.fuze.k=3", UnknownSetting, "unknown setting 'search.fuze'. Did you mean 'fuse'"),
        ("search.fuse.kk=3", UnknownSetting, "Did you mean 'k'"),
        ("search.keyword.weights.titel=3", UnknownSetting, "Did you mean 'title'"),
        ("search.legs=['vektor']", UnknownSetting, "Did you mean 'vector'"),
        ("search.legs=[]", InvalidValue, "search.legs is empty"),
        ("search.fuse.k=-1", InvalidValue, "must not be negative"),
        ("search.fuse.k=many", InvalidValue, "'search.fuse.k' must be a number, not 'many'"),
        ("search.fuse.k=inf", InvalidValue, "'search.fuse.k' must be within 1,000,000,000"),
        ("search.fuse.weights.vector=nan", InvalidValue, "must be within 1,000,000,000"),
        ("search.vector.depth_per_hit=1e308", InvalidValue, "must be within 1,000,000,000"),
        ("search.keyword.depth=99999999999999999999", InvalidValue, "must be within"),
        ("search.fuse.k=" + "9" * 400, InvalidValue, "must be within 1,000,000,000"),
        ("search.keyword.depth=1.5", InvalidValue, "must be a whole number, not 1.5"),
        ("search.keyword.weights.body=-1", InvalidValue, "search.keyword.weights must not be neg"),
        ("search.keyword.k1=-1.2", InvalidValue, "search.keyword.k1 must not be negative"),
        ("search.trigram.b=5", InvalidValue, "search.trigram.k1 must not be negative and b be"),
        ("search.fuse.method=best", InvalidValue, "must be one of rrf, union"),
        ("search.fuse=3", InvalidValue, "must be a table of settings"),
        ("search.unit.k=3", UnknownSetting, "which is not a section"),
        ("search", InvalidValue, "section.key=value"),
    ],
)
def test_a_wrong_setting_is_named(override: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message.replace("(", r"\(")):
        load_profile("default", [override])


def test_an_unknown_profile_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no profile named 'defualt'\. Did you mean 'default'"):
        load_profile("defualt")


def test_a_profile_can_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[search.fuse]\nk = 7\n")
    profile = load_profile(str(path))
    assert (profile.name, profile.search.fuse.k) == ("mine", 7)
    path.write_text("[search\n")
    with pytest.raises(InvalidValue, match="not valid TOML"):
        load_profile(str(path))
    with pytest.raises(UnknownName, match="cannot read the profile"):
        load_profile(str(tmp_path / "absent.toml"))
