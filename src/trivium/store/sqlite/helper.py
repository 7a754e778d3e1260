"""A child process that keeps the derived index in step while its parent writes: run as a module.

Each line that comes asks for what is committed by then, and is answered by one when that is on the
disk. It only reads the record, and ends when nobody can ask any more, or at the first error: what
it makes is what any process makes of the same state, so its parent can do without.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from trivium.store.sqlite.connection import Connections
from trivium.store.sqlite.derived import DerivedIndex

WITH_VECTORS = "vectors"


def main() -> None:
    """Serve until the other side closes its end."""
    folder, library, what = sys.argv[1:4]
    derived = DerivedIndex(
        Path(folder, "cache"), library, writable=True, with_vectors=what == WITH_VECTORS
    )
    gc.disable()  # rows hold no cycles, and looking for some took a tenth of the time
    for _ in sys.stdin:
        # one that only reads is opened anew whenever the file has changed, and kept until the end
        connections = Connections(Path(folder, "index.db"), writable=False)
        derived.keep_up(connections.reader())
        connections.close()
        print(flush=True)
        gc.collect()  # while nobody waits


if __name__ == "__main__":
    main()
