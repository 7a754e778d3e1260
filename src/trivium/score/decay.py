"""How much of its worth a document has kept, from 0 to 1, at a moment that is passed in."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from trivium.config import ScoreSettings
from trivium.types import Document


def decay(document: Document, now: datetime, settings: ScoreSettings) -> float:
    """By its validity window if it ends some day, otherwise by its age.

    What is expired or not valid yet has none left. Age counts from the source's own date, the
    later of its two; without any date nothing is known in its favour.
    """
    dated = document.updated or document.created
    if document.valid_from is not None and now < document.valid_from:
        return 0.0
    if document.valid_until is not None:
        begin = document.valid_from or dated or document.valid_until
        return by_window(begin, document.valid_until, now, settings.decay_zone)
    if dated is None:
        return 0.0
    return by_age(now - dated, timedelta(days=settings.half_life_days))


def by_age(age: timedelta, half_life: timedelta) -> float:
    """exp(−ln 2 · age / half-life): ½ after one half-life; what is dated ahead counts as new."""
    return math.exp(-math.log(2) * (max(age, timedelta(0)) / half_life))


def by_window(begin: datetime, end: datetime, now: datetime, zone: float) -> float:
    """1 until the last `zone` of the window, then in a straight line to 0 at its end."""
    remaining = end - now
    if remaining <= timedelta(0):
        return 0.0
    ramp = (end - begin) * zone
    return min(1.0, remaining / ramp) if ramp > timedelta(0) else 1.0
