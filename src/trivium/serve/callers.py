"""Who asks: a key's holder, the local owner, or whoever sits at this machine."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from threading import Lock
from typing import Annotated, TypeAlias
from urllib.parse import urlsplit

from fastapi import Depends, Request

from trivium.keys import ROLES, Role
from trivium.library import Library
from trivium.serve.problems import Problem
from trivium.serve.rates import Rates
from trivium.types import OWNER, PUBLIC, Grant

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, as what, and what they may see."""

    name: str
    role: Role
    grant: Grant

    def may(self, role: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)

    @property
    def is_owner(self) -> bool:
        return self.grant == OWNER


NOBODY = Caller("nobody", "reader", PUBLIC)
"""Whoever asks from this machine without a key."""


@dataclass(slots=True)
class Gate:
    """Finds out who asks. Secrets are compared with the record at every request, so a key that was
    revoked opens nothing any more.
    """

    library: Library
    rates: Rates = field(default_factory=Rates)
    _tokens: set[str] = field(default_factory=set)
    _sessions: set[str] = field(default_factory=set)
    _lock: Lock = field(default_factory=Lock)

    def owner_token(self) -> str:
        """A secret that can be exchanged once for the owner's key."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._tokens.add(token)
        return token

    def exchange(self, token: str) -> str:
        """The owner's key for as long as the server runs, for a token that is good only once."""
        with self._lock:
            if token not in self._tokens:
                raise Problem(
                    401,
                    "used_token",
                    "this link was used before, or is not of this server",
                    "start 'trivium serve --owner' again for a new one",
                )
            self._tokens.remove(token)
            session = "own_" + secrets.token_urlsafe(32)
            self._sessions.add(session)
        return session

    def caller(self, headers: Mapping[str, str], address: str) -> Caller:
        """Who asks; a `Problem` for those who may not, or not so often."""
        caller = self._known(headers, address)
        self.rates.spend(f"{caller.name}@{address}" if caller is NOBODY else caller.name)
        return caller

    def _known(self, headers: Mapping[str, str], address: str) -> Caller:
        secret = _bearer(headers)
        if secret is None:
            return _anonymous(headers, address)
        if secret in self._sessions:
            return Caller("owner", "admin", OWNER)
        key = self.library.key_of(secret)
        if key is None:
            self.rates.spend(address)
            raise Problem(
                401,
                "unknown_key",
                "this key is not known, has expired or was revoked",
                "ask the library's owner for a new one: 'trivium key create'",
            )
        return Caller(key.name, key.role, key.grant)


def _bearer(headers: Mapping[str, str]) -> str | None:
    given = headers.get("authorization")
    if given is None:
        return headers.get("x-api-key")
    scheme, _, secret = given.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Problem(
            401,
            "malformed_key",
            "the Authorization header holds no key",
            "send 'Authorization: Bearer KEY'",
        )
    return secret.strip()


def _anonymous(headers: Mapping[str, str], address: str) -> Caller:
    """Without a key only from this machine, by a name that only this machine has.

    A page that made its own name point here (DNS rebinding) still says that name in `Host`, and a
    proxy that speaks for others says so.
    """
    forwarded = any(name in headers for name in ("forwarded", "x-forwarded-for", "via"))
    if is_loopback(address) and not forwarded and is_local_host(headers.get("host", "")):
        return NOBODY
    raise Problem(
        401,
        "no_key",
        "this library is answered to strangers only on its own machine",
        "send 'Authorization: Bearer KEY' with a key of 'trivium key create'",
    )


def is_loopback(address: str) -> bool:
    try:
        return ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return address == "localhost"


def is_local_host(host: str) -> bool:
    """Whether a `Host` header names this machine, whatever the port."""
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        return False
    return name in LOCAL_NAMES


def is_same_origin(origin: str, host: str) -> bool:
    """Whether a page's `Origin` is the place that it asks; the scheme may be a proxy's."""
    try:
        return urlsplit(origin).netloc.lower() == host.lower() and "://" in origin
    except ValueError:
        return False


def _caller(request: Request) -> Caller:
    gate: Gate = request.app.state.service.gate
    address = request.client.host if request.client else ""
    caller = gate.caller(request.headers, address)
    request.state.caller = caller.name
    return caller


def needs_role(caller: Caller, role: Role) -> Caller:
    """The caller, if they may do that much."""
    if not caller.may(role):
        raise Problem(
            403,
            "role_too_low",
            f"this needs the role {role}, and '{caller.name}' is a {caller.role}",
            f"use a key made with 'trivium key create --role {role}', "
            "or the link of 'trivium serve --owner'",
        )
    return caller


def needs_every_scope(caller: Caller, why: str) -> None:
    """For what changes documents that the caller may not know of."""
    if not caller.is_owner:
        raise Problem(
            403,
            "needs_every_scope",
            f"this needs a key that sees everything: {why}",
            "use a key made with 'trivium key create --every-scope', "
            "or the link of 'trivium serve --owner'",
        )


async def _writer(caller: Annotated[Caller, Depends(_caller)]) -> Caller:
    return needs_role(caller, "writer")


async def _admin(caller: Annotated[Caller, Depends(_caller)]) -> Caller:
    return needs_role(caller, "admin")


Reader: TypeAlias = Annotated[Caller, Depends(_caller)]
Writer: TypeAlias = Annotated[Caller, Depends(_writer)]
Admin: TypeAlias = Annotated[Caller, Depends(_admin)]
