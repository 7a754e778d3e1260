"""Times in, times out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trivium.clock import format_time, microseconds, parse_time
from trivium.errors import InvalidValue

MOMENTS = st.datetimes(timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("given_as", "moment"),
    [
        ("2024-05-31", datetime(2024, 5, 31, tzinfo=UTC)),
        (" 20240531 ", datetime(2024, 5, 31, tzinfo=UTC)),
        ("2024-05-31T18:30", datetime(2024, 5, 31, 18, 30, tzinfo=UTC)),
        ("2024-05-31 18:30:00Z", datetime(2024, 5, 31, 18, 30, tzinfo=UTC)),
        ("2024-05-31T18:30:00+02:00", datetime(2024, 5, 31, 16, 30, tzinfo=UTC)),
        ("2024-05-31T18:30:00.25Z", datetime(2024, 5, 31, 18, 30, 0, 250_000, tzinfo=UTC)),
        (date(2024, 5, 31), datetime(2024, 5, 31, tzinfo=UTC)),
        (datetime(2024, 5, 31, 18, 30), datetime(2024, 5, 31, 18, 30, tzinfo=UTC)),
        (
            datetime(2024, 5, 31, 1, tzinfo=timezone(timedelta(hours=2))),
            datetime(2024, 5, 30, 23, tzinfo=UTC),
        ),
    ],
)
def test_every_usual_form_of_a_time_is_read(
    given_as: str | date | datetime, moment: datetime
) -> None:
    parsed = parse_time(given_as)
    assert parsed == moment
    assert parsed.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    "text", ["", "soon", "2024", "2024-05", "31.05.2024", "2024-02-30", "0001-01-01T00:00+01:00"]
)
def test_anything_else_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(InvalidValue, match="Write a date as 2024-05-31"):
        parse_time(text)


def test_a_number_is_not_a_time() -> None:
    with pytest.raises(InvalidValue, match="2024 is not a date"):
        parse_time(2024)  # type: ignore[arg-type]


def test_the_written_form_has_a_fixed_width() -> None:
    assert format_time(datetime(2024, 5, 31, tzinfo=UTC)) == "2024-05-31T00:00:00.000000Z"
    assert format_time(datetime(33, 4, 3, 15, 0, 0, 7)) == "0033-04-03T15:00:00.000007Z"


@given(MOMENTS)
def test_a_written_time_reads_back(moment: datetime) -> None:
    assert parse_time(format_time(moment)) == moment


@given(MOMENTS, MOMENTS)
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    assert (format_time(one) < format_time(other)) == (one < other)


def test_microseconds_are_exact() -> None:
    assert microseconds(datetime(1970, 1, 1, tzinfo=UTC)) == 0
    assert microseconds(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1
    assert microseconds(datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == (
        253_402_300_799_999_999
    )
