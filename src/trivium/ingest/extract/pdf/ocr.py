"""Pages that are pictures, read by Tesseract where it is installed."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import time
from typing import Any

import pypdfium2.raw as pdfium

_RESOLUTION = 200 / 72  # Tesseract wants capitals of 20 to 30 pixels: 200 dots an inch
_LARGEST_SIDE = 5_000  # pixels
_SECONDS_A_PAGE = 60
_BLANK_LINES = re.compile(r"\n\s*\n")


def tesseract() -> str | None:
    """Where the program is, or None."""
    return shutil.which("tesseract")


def read_picture(program: str, page: Any, until: float) -> list[str] | None:
    """The paragraphs of a page that is a picture; None when the time is up or it fails.

    `until` is a moment of `time.monotonic`. The program is given a minute a page at most.
    """
    seconds = min(until - time.monotonic(), _SECONDS_A_PAGE)
    if seconds <= 1:
        return None
    try:
        done = subprocess.run(
            [program, "stdin", "stdout"],
            input=_picture(page),
            capture_output=True,
            timeout=seconds,
            check=False,
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
    except (subprocess.TimeoutExpired, OSError):
        return None
    if done.returncode != 0:
        return None
    text = done.stdout.decode("utf-8", "replace")
    return [" ".join(part.split()) for part in _BLANK_LINES.split(text) if part.strip()]


def _picture(page: Any) -> bytes:
    """The page as a grey picture in PGM, which is a line of numbers and then the pixels."""
    across, down = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
    scale = min(_RESOLUTION, _LARGEST_SIDE / max(across, down, 1.0))
    width, height = max(1, round(across * scale)), max(1, round(down * scale))
    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_Gray, None, 0)
    if not bitmap:
        raise MemoryError
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, pdfium.FPDF_ANNOT)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        pixels = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * height)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
    rows = (pixels[row * stride : row * stride + width] for row in range(height))
    return b"P5 %d %d 255\n" % (width, height) + b"".join(rows)
