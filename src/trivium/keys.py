"""Keys: who may ask from elsewhere, as what, and what they may see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from trivium.types import Grant

Role: TypeAlias = Literal["reader", "writer", "admin"]
ROLES: tuple[Role, ...] = ("reader", "writer", "admin")
"""Each may do what the one before it may, and more."""


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key; never the secret itself."""

    id: str
    name: str
    role: Role
    grant: Grant
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        return self.revoked is None and (self.expires is None or now < self.expires)


class KeyRing(Protocol):
    """The part of a store that keeps keys, each by the SHA-256 of its secret."""

    def add(self, key: Key, hash: str) -> None:
        """Keep a key; `InvalidValue` if its name is taken."""

    def all(self) -> list[Key]: ...
    def with_hash(self, hash: str) -> Key | None: ...
    def revoke(self, id: str, now: datetime) -> None: ...
