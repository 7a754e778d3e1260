"""Why a search does not show a document: the stage that lost it, and what would show it."""

from trivium.why_not.asking import OnRoad, Remedy, WhyNot, why_not, why_not_json

__all__ = ["OnRoad", "Remedy", "WhyNot", "why_not", "why_not_json"]
