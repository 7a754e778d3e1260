"""The files of the web page."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.staticfiles import StaticFiles


class Pages(StaticFiles):
    """Files that a browser asks about before it uses its copy: those of two versions do not mix."""

    def file_response(self, *arguments: Any, **named: Any) -> Response:
        response = super().file_response(*arguments, **named)
        response.headers["Cache-Control"] = "no-cache"
        return response
