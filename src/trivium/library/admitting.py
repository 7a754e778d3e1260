"""Keys: made, listed, revoked, and found again by those who hold one."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256

from trivium.errors import InvalidValue, UnknownName, nearest
from trivium.keys import ROLES, Key, Role
from trivium.library.base import Opened
from trivium.types import OWNER, Grant

MARK = "trv_"
"""How keys begin, so that people and programs recognise one that lies about."""

RESERVED = frozenset({"owner", "nobody"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Admitting(Opened):
    """What lets others in, and shuts them out."""

    def scopes(self) -> frozenset[str]:
        """The scopes that documents have now."""
        with self._store.view(OWNER) as view:
            return view.values("scope")

    def create_key(
        self,
        name: str,
        *,
        scopes: Iterable[str] | None = (),
        role: Role = "reader",
        expires: datetime | None = None,
    ) -> tuple[Key, str]:
        """A new key and its secret, which is kept nowhere and cannot be shown again.

        It sees what is public and the scopes named; None stands for every scope there is.
        """
        if not _NAME.fullmatch(name):
            raise InvalidValue(
                f"'{name}' is no name for a key; use letters, digits, dots, dashes and underscores"
            )
        if name in RESERVED:
            raise InvalidValue(f"'{name}' is what the server calls others; choose another name")
        if role not in ROLES:
            hint = nearest(role, ROLES) or f" There are: {', '.join(ROLES)}."
            raise InvalidValue(f"'{role}' is not a role.{hint}")
        now = self._now()
        if expires is not None and expires <= now:
            raise InvalidValue("the key would have expired already; choose a later time")
        grant = Grant(None if scopes is None else frozenset(scopes))
        secret = MARK + secrets.token_urlsafe(32)
        key = Key(secrets.token_hex(4), name, role, grant, now, expires)
        self._store.keys.add(key, _hash(secret))
        return key, secret

    def keys(self) -> list[Key]:
        """All keys that were ever made, oldest first."""
        return self._store.keys.all()

    def revoke_key(self, name: str) -> Key:
        """Shut a key out, by name or id; from the next request on it opens nothing."""
        known = self.keys()
        found = next((key for key in known if name in (key.name, key.id)), None)
        if found is None:
            hint = nearest(name, [key.name for key in known])
            raise UnknownName(f"there is no key '{name}'.{hint} 'trivium key list' shows them")
        self._store.keys.revoke(found.id, self._now())
        return found

    def key_of(self, secret: str) -> Key | None:
        """The key that has this secret, if it is valid now."""
        key = self._store.keys.with_hash(_hash(secret))
        return key if key and key.is_valid(self._now()) else None


def _hash(secret: str) -> str:
    """A plain hash is enough: nobody can guess 256 random bits."""
    return sha256(secret.encode("utf-8", "replace")).hexdigest()
