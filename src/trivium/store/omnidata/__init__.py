"""`.omnidata` bundles (document 002): a folder with everything that was searched, to give away.

`Bundle` reads one, `take_in` puts it into a library, `export` makes one of a library, `cached`
lets one be searched where it lies. What a bundle is made of stands in `bundle.sql`.
"""

from trivium.store.omnidata.cache import cached
from trivium.store.omnidata.exporting import ExportReport, export
from trivium.store.omnidata.importing import ImportReport, take_in
from trivium.store.omnidata.reading import Bundle, is_bundle, opened

__all__ = [
    "Bundle",
    "ExportReport",
    "ImportReport",
    "cached",
    "export",
    "is_bundle",
    "opened",
    "take_in",
]
