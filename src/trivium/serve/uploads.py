"""Uploads: files that others send, kept in a folder of their own until they are taken in."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Annotated, TypeAlias

import anyio.to_thread
from fastapi import Depends, Request
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException

from trivium.serve.problems import Problem

MOST_FILES = 100
LONGEST_NAME = 150
PIECE = 1 << 20

_UNFIT = re.compile(r"[\x00-\x1f\x7f<>:\"|?*]")


@dataclass(slots=True)
class Upload:
    """Files in a folder that is theirs alone, and a hash of their names and content.

    They are gone with the request, unless somebody sets `kept` and discards them later.
    """

    folder: Path
    files: tuple[Path, ...]
    digest: str
    kept: bool = False

    def discard(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def safe_name(name: str) -> str:
    """The last part of a name without what no file's name may hold."""
    last = name.replace("\\", "/").rpartition("/")[2].encode("utf-8", "replace").decode()
    clean = _UNFIT.sub("_", last).strip(" .")
    if not clean:
        raise Problem(
            422,
            "no_name",
            "a file has no name",
            "send ?name=notes.md, or a file name in the form",
        )
    stem, dot, ending = clean.rpartition(".")
    return clean if len(clean) <= LONGEST_NAME else f"{stem[: LONGEST_NAME - 20]}{dot}{ending[:19]}"


async def _received(request: Request) -> AsyncIterator[Upload]:
    """The files of a request."""
    folder = Path(await anyio.to_thread.run_sync(lambda: tempfile.mkdtemp(prefix="trivium-")))
    try:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "multipart/form-data":
            files = await _of_form(request, folder)
        else:
            files = [await _raw(request, folder)]
        digest = await anyio.to_thread.run_sync(_digest, files)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    upload = Upload(folder, tuple(files), digest)
    try:
        yield upload
    finally:
        if not upload.kept:
            upload.discard()


async def _raw(request: Request, folder: Path) -> Path:
    path = folder / safe_name(request.query_params.get("name", ""))
    with path.open("wb") as file:
        async for piece in request.stream():
            file.write(piece)
    return path


async def _of_form(request: Request, folder: Path) -> list[Path]:
    files: list[Path] = []
    try:
        form = await request.form(max_files=MOST_FILES, max_fields=MOST_FILES)
    except HTTPException as error:
        raise _malformed(str(error.detail)) from error
    except (MultiPartException, ValueError, KeyError) as error:
        raise _malformed(str(error)) from error
    try:
        for _, value in form.multi_items():
            if not isinstance(value, UploadFile):
                raise _malformed("it has fields besides files; send those as parameters")
            path = folder / safe_name(value.filename or "")
            if path in files:
                raise _malformed(f"two files are named '{path.name}'")
            files.append(path)
            await anyio.to_thread.run_sync(_copy, value.file, path)
    finally:
        await form.close()
    if not files:
        raise _malformed("there is no file in it")
    return files


def _malformed(reason: str) -> Problem:
    return Problem(
        400,
        "malformed_form",
        f"the form cannot be read: {reason}",
        "send each file as a part with a file name, or the bytes alone with ?name=",
    )


def _copy(source: IO[bytes], path: Path) -> None:
    with path.open("wb") as file:
        shutil.copyfileobj(source, file, PIECE)


def _digest(files: list[Path]) -> str:
    whole = sha256()
    for path in files:
        with path.open("rb") as file:
            own = sha256()
            while piece := file.read(PIECE):
                own.update(piece)
        whole.update(f"{path.name}\0{own.hexdigest()}\n".encode())
    return whole.hexdigest()


Received: TypeAlias = Annotated[Upload, Depends(_received)]
