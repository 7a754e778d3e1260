"""Blob storage for source files, through fsspec: Azure and S3. Optional: extra `blob`.

What lies there is named by its hash, like in the archive, so an upload can be repeated at will.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import Thread
from typing import Any, Protocol
from urllib.parse import urlsplit

from trivium.errors import InvalidValue, SourceError, install
from trivium.settings import ArchiveSettings

TIME_OUT = 60.0
"""Seconds for one file. The clients try again by themselves, for longer than anybody waits."""


class Blobs(Protocol):
    """Keeps files under their hash and says where."""

    def put(self, hash: str, data: bytes) -> str:
        """The uri of the blob; `SourceError` if it could not be written."""


class FsspecBlobs:
    """One container (bucket) of a storage account."""

    def __init__(self, filesystem: Any, scheme: str, container: str) -> None:
        self._filesystem = filesystem
        self._scheme = scheme
        self._container = container
        self._made = False

    def put(self, hash: str, data: bytes) -> str:
        path = f"{self._container}/{hash[:2]}/{hash}"
        failures: list[Exception] = []

        def write() -> None:
            # The clients raise whatever their libraries do; a copy that fails must cost nothing.
            try:
                self._write(path, data)
            except Exception as error:
                failures.append(error)

        writing = Thread(target=write, daemon=True)  # if it hangs, the process ends without it
        writing.start()
        writing.join(TIME_OUT)
        if writing.is_alive():
            raise SourceError(f"no answer from blob storage in {TIME_OUT:g} seconds")
        if failures:
            reason = " ".join(str(failures[0]).split())[:200] or type(failures[0]).__name__
            raise SourceError(f"blob storage refused: {reason}") from failures[0]
        return f"{self._scheme}://{path}"

    def _write(self, path: str, data: bytes) -> None:
        if not self._made:
            if not self._filesystem.exists(self._container):
                self._filesystem.mkdir(self._container)
            self._made = True
        self._filesystem.pipe_file(path, data)


def blobs(
    settings: ArchiveSettings, container: str, environment: Mapping[str, str] | None = None
) -> Blobs | None:
    """Blob storage as the user set it up; None where there is none."""
    if settings.kind == "none":
        return None
    try:
        import fsspec
    except ImportError as error:
        raise _not_installed() from error
    secret = _secret(settings, os.environ if environment is None else environment)
    name = settings.container or container
    try:
        if settings.kind == "azure":
            options = {"connection_string": _connection_string(settings.url, secret)}
            return FsspecBlobs(fsspec.filesystem("abfs", **options), "abfs", name)
        key, _, password = secret.partition(":")
        filesystem = fsspec.filesystem(
            "s3", endpoint_url=settings.url or None, key=key or None, secret=password or None
        )
        return FsspecBlobs(filesystem, "s3", name)
    except ImportError as error:
        raise _not_installed() from error


def _secret(settings: ArchiveSettings, environment: Mapping[str, str]) -> str:
    if not settings.key_variable:
        return ""
    if not environment.get(settings.key_variable):
        raise InvalidValue(
            f"the environment variable {settings.key_variable} (archive.key_variable) is not set; "
            "put the storage key into it"
        )
    return environment[settings.key_variable]


def _connection_string(url: str, secret: str) -> str:
    """Azure's own form, made of the account's URL and its key; a secret in that form is taken."""
    if "AccountName=" in secret or "BlobEndpoint=" in secret:
        return secret
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host:
        raise InvalidValue(
            "archive.url is empty; set it to https://ACCOUNT.blob.core.windows.net, or put a "
            "connection string into the variable that archive.key_variable names"
        )
    in_host = host.endswith(".blob.core.windows.net")
    account = host.partition(".")[0] if in_host else parts.path.strip("/").partition("/")[0]
    return (
        f"DefaultEndpointsProtocol={parts.scheme};AccountName={account};AccountKey={secret};"
        f"BlobEndpoint={url.rstrip('/')};"
    )


def _not_installed() -> InvalidValue:
    return InvalidValue(f"blob storage needs other packages; {install('blob')}")
