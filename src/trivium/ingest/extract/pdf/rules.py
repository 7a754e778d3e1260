"""The straight lines that are drawn on a page: borders of tables and boxes."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pypdfium2.raw as pdfium

from trivium.ingest.extract.pdf.words import Box

_MOST_OBJECTS = 20_000  # more are a map or a drawing, not a table
_MOST_SEGMENTS = 400
_THINNEST, _SHORTEST = 3.0, 6.0  # points: what is a line, and what is long enough to be one


def read_rules(page: Any) -> list[Box]:
    """Straight lines along the axes, in the file's coordinates."""
    count = pdfium.FPDFPage_CountObjects(page)
    rules: list[Box] = []
    if count > _MOST_OBJECTS:
        return rules
    for at in range(count):
        item = pdfium.FPDFPage_GetObject(page, at)
        if pdfium.FPDFPageObj_GetType(item) == pdfium.FPDF_PAGEOBJ_PATH:
            rules.extend(_path_rules(item))
    return rules


def _path_rules(path: Any) -> Iterator[Box]:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, ctypes.byref(fill), ctypes.byref(stroke))
    if not fill.value and not stroke.value:
        return
    edges = [ctypes.c_float() for _ in range(4)]
    if not pdfium.FPDFPageObj_GetBounds(path, *(ctypes.byref(edge) for edge in edges)):
        return
    left, bottom, right, top = (float(edge.value) for edge in edges)
    if min(right - left, top - bottom) <= _THINNEST:
        if max(right - left, top - bottom) >= _SHORTEST:
            yield Box(left, bottom, right, top)
    elif stroke.value:
        yield from _stroked(path)


def _stroked(path: Any) -> Iterator[Box]:
    """The straight parts of a path that is drawn as a line."""
    count = pdfium.FPDFPath_CountSegments(path)
    if not 0 < count <= _MOST_SEGMENTS:
        return
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, ctypes.byref(matrix))
    x, y = ctypes.c_float(), ctypes.c_float()
    start = last = (0.0, 0.0)
    for at in range(count):
        segment = pdfium.FPDFPath_GetPathSegment(path, at)
        pdfium.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = pdfium.FPDFPathSegment_GetType(segment)
        if kind == pdfium.FPDF_SEGMENT_LINETO:
            yield from _straight(last, point)
        elif kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        last = point
        if pdfium.FPDFPathSegment_GetClose(segment):
            yield from _straight(last, start)


def _straight(one: tuple[float, float], other: tuple[float, float]) -> Iterator[Box]:
    across, up = abs(one[0] - other[0]), abs(one[1] - other[1])
    if min(across, up) <= 1.0 and max(across, up) >= _SHORTEST:
        yield Box(
            min(one[0], other[0]),
            min(one[1], other[1]),
            max(one[0], other[0]),
            max(one[1], other[1]),
        )
