"""Settings of what happens to a fused ranking; part of `config`."""

from __future__ import annotations

from trivium.errors import InvalidValue
from trivium.values import dataclass


@dataclass(frozen=True, slots=True)
class CompanySettings:
    """How much likeness to the best hits counts, and which are the best; weight 0 leaves it out."""

    weight: float = 0.0
    examples: int = 3
    temperature: float = 0.1

    def __post_init__(self) -> None:
        if self.weight < 0 or self.examples < 1 or self.temperature <= 0:
            raise InvalidValue(
                "search.company needs a weight of at least 0, at least 1 example and a "
                "temperature above 0; the default profile has 0.28, 3 and 0.07"
            )


NO_COMPANY = CompanySettings()
