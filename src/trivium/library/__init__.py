"""The one façade: fill a library, search it, look after it. Surfaces call nothing below."""

from trivium.library.admitting import Admitting
from trivium.library.base import NO_MODEL
from trivium.library.consulting import Consulting
from trivium.library.explaining import Explaining
from trivium.library.judging import Judging
from trivium.library.keeping import Keeping
from trivium.library.moving import Moving
from trivium.library.remembering import Remembering
from trivium.library.searching import Searching
from trivium.library.statement import Stating
from trivium.library.suggesting import Suggesting
from trivium.library.verifying import Verifying
from trivium.library.versioning import Versioning
from trivium.library.watching import Watching

__all__ = ["NO_MODEL", "Library"]


class Library(
    Watching,
    Verifying,
    Remembering,
    Consulting,
    Explaining,
    Searching,
    Suggesting,
    Stating,
    Judging,
    Versioning,
    Admitting,
    Moving,
    Keeping,
):
    """An open library. Use it as a context manager, or call `close`."""
