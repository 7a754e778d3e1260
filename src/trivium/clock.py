"""Times: one way in, one way out. Everything inside Trivium is an aware UTC datetime."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from time import perf_counter

from trivium.errors import InvalidValue

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FORMS = "Write a date as 2024-05-31 or a time as 2024-05-31T18:30:00Z."


def parse_time(value: str | date | datetime) -> datetime:
    """The moment as an aware UTC datetime.

    Takes ISO 8601 text, dates and datetimes. A date alone is its midnight in UTC, a time without
    an offset is in UTC. Anything else raises `InvalidValue`, never another exception.
    """
    if isinstance(value, datetime):
        return _in_utc(value, value)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, str):
        raise _refusal(value)
    try:
        parsed = datetime.fromisoformat(value.strip())
    except ValueError as error:
        raise _refusal(value) from error
    return _in_utc(parsed, value)


def format_time(moment: datetime) -> str:
    """The moment as `YYYY-MM-DDTHH:MM:SS.ffffffZ`.

    The width is fixed, so text order is time order, and `parse_time` gives the same moment back.
    Without a fixed width "…:00.5Z" would sort before "…:00Z", because "." is less than "Z".
    """
    utc = _in_utc(moment, moment)
    return utc.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def microseconds(moment: datetime) -> int:
    """Microseconds since 1970-01-01T00:00:00Z, exact (`timestamp()` would round a float)."""
    return (_in_utc(moment, moment) - _EPOCH) // _MICROSECOND


def _in_utc(moment: datetime, given: object) -> datetime:
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:  # 0001-01-01T00:00+01:00 has no UTC form
        raise _refusal(given) from error


def _refusal(value: object) -> InvalidValue:
    shown = str(value) if isinstance(value, date) else repr(value)
    return InvalidValue(f"{shown} is not a date or time. {_FORMS}")


class Stopwatch:
    """Milliseconds between laps, each under the name of what was done."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, name: str) -> None:
        """What was done since the last lap was this."""
        now = perf_counter()
        self.laps[name] = self.laps.get(name, 0.0) + (now - self._last) * 1000
        self._last = now
