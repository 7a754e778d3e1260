"""From an address and the settings to a served library."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from trivium.errors import InvalidValue
from trivium.library.homes import is_served
from trivium.remote import RemoteLibrary
from trivium.remote.server import DEFAULT_KEY, TIME_OUT, Server
from trivium.settings import TierSettings


def reach(url: str, *, key_variable: str = "", time_out: float = TIME_OUT) -> RemoteLibrary:
    """The library that is served at an address; nothing is sent before it is asked something."""
    return RemoteLibrary(Server(checked(url), key_variable, time_out=time_out))


def as_set(url: str, tiers: Mapping[str, TierSettings]) -> RemoteLibrary:
    """The same with the key and the patience of the tier of this address, where there is one; the
    key is otherwise in TRIVIUM_KEY.
    """
    place = checked(url)
    same = (one for one in tiers.values() if is_served(one.library))
    tier = next((one for one in same if checked(one.library) == place), TierSettings())
    variable = tier.key_variable or (DEFAULT_KEY if os.environ.get(DEFAULT_KEY) else "")
    return reach(place, key_variable=variable, time_out=tier.time_out)


def checked(url: str) -> str:
    """The address without a slash at its end; an error where it says more than where."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
        host, secret = parts.hostname, parts.username is not None or parts.password is not None
    except ValueError:
        parts, host, secret = urlsplit(""), None, False
    if secret or parts.query or parts.fragment:  # not repeated: it may hold a key
        raise InvalidValue(
            "the address of a library holds no key, user name or parameters; write "
            f"http://host:port, and put the key into the environment variable {DEFAULT_KEY}"
        )
    if not host:
        raise InvalidValue(f"'{url}' is no address of a library; write http://host:port")
    return url.strip().rstrip("/")
