"""The cache folder: a manifest that names the files of the last snapshot that was written down.

Files are never changed, only replaced by others under a new manifest, so a reader in another
process keeps what it has mapped. Anything unexpected raises `CacheDamaged`.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np

from trivium.index.arrays import CacheDamaged, MappedArrays, Parcel, write_arrays
from trivium.index.documents import Mask
from trivium.index.joining import merge_blocks, merged_blocks
from trivium.index.matrix import Block
from trivium.index.merging import merge, merged
from trivium.index.segment import Segment
from trivium.index.snapshot import LivingBlock, LivingSegment, Snapshot

FORMAT = 6
MERGE_FACTOR = 4  # sizes grow by this, so a row is rewritten about log₄(rows) times
GARBAGE_AGE = 60.0  # seconds until a manifest surely names what another process has written


Worn: TypeAlias = Callable[[LivingSegment | LivingBlock], bool]


class CacheFolder:
    """Reads and writes the derived index of one library."""

    def __init__(self, path: Path, library: str) -> None:
        self._path = path
        self._library = library
        self._loose: set[str] = set()  # files of this process that no manifest has named

    def load(self) -> tuple[Snapshot, str] | None:
        """The last snapshot written for this library with its stamp; None if there is none."""
        manifest_path = self._path / "manifest.json"
        if not manifest_path.exists():
            return None
        try:
            return self._load(json.loads(manifest_path.read_bytes()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CacheDamaged(f"the manifest cannot be read: {error}") from error

    def _load(self, manifest: dict[str, Any]) -> tuple[Snapshot, str] | None:
        if manifest["format"] != FORMAT or manifest["library"] != self._library:
            return None
        alive = MappedArrays(self._path / manifest["alive"])
        segments = []
        for place, name in enumerate(manifest["segments"]):
            segment = Segment(MappedArrays(self._path / name))
            segments.append(
                LivingSegment(segment, _unpack(alive[f"segment.{place}"], len(segment)), name)
            )
        blocks = []
        for place, name in enumerate(manifest["blocks"]):
            block = Block(MappedArrays(self._path / name))
            blocks.append(LivingBlock(block, _unpack(alive[f"block.{place}"], len(block)), name))
        generation, model = manifest["generation"], manifest["model"]
        return Snapshot(generation, model, tuple(segments), tuple(blocks)), manifest["stamp"]

    def save(
        self, snapshot: Snapshot, stamp: str, *, as_one: bool = False, more: bool = False
    ) -> Snapshot:
        """Merge what should be merged, write what is not on disk yet, replace the manifest.

        With `as_one` all is merged: nothing is searched more quickly. If `more` is to come soon,
        only groups of many are.
        """
        from concurrent.futures import ThreadPoolExecutor  # searches do without

        worn = _partly_dead if as_one else _mostly_dead
        choose = _whole if as_one else _worthwhile if more else _groups
        with ThreadPoolExecutor(1) as beside:  # vectors are mostly moved, words mostly counted
            moved = beside.submit(
                lambda: [self._saved_block(one, worn) for one in choose(snapshot.blocks)]
            )
            segments = [self._saved_segment(one, worn) for one in choose(snapshot.segments)]
            blocks = moved.result()
        alive = {f"segment.{i}": np.packbits(one.alive) for i, one in enumerate(segments)}
        alive |= {f"block.{i}": np.packbits(one.alive) for i, one in enumerate(blocks)}
        alive_name = self._new_name("alive")
        write_arrays(self._place(alive_name), Parcel.of(alive))
        replaced = self._named()
        manifest = self._name(snapshot, stamp, alive_name, segments, blocks)
        if not all((self._path / name).exists() for name in _files(manifest)):
            # another process has replaced some meanwhile; what is mapped is written once more
            segments = [self._saved_segment([one], _never) for one in segments]
            blocks = [self._saved_block([one], _never) for one in blocks]
            manifest = self._name(snapshot, stamp, alive_name, segments, blocks)
        self._remove_garbage(_files(manifest), replaced)
        return replace(snapshot, segments=tuple(segments), blocks=tuple(blocks), _seen={})

    def _name(
        self,
        snapshot: Snapshot,
        stamp: str,
        alive: str,
        segments: Sequence[LivingSegment],
        blocks: Sequence[LivingBlock],
    ) -> dict[str, Any]:
        """Replace the manifest by one that names these files."""
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "library": self._library,
            "generation": snapshot.generation,
            "stamp": stamp,
            "model": snapshot.model,
            "alive": alive,
            "segments": [one.file for one in segments],
            "blocks": [one.file for one in blocks],
        }
        temporary = self._place(self._new_name("manifest"))
        temporary.write_text(json.dumps(manifest), encoding="utf-8")
        temporary.replace(self._path / "manifest.json")
        return manifest

    def clear(self) -> None:
        """Forget everything; the record has it all."""
        (self._path / "manifest.json").unlink(missing_ok=True)

    def kept_segment(self, living: LivingSegment) -> LivingSegment:
        """The same on the disk and not in memory; no manifest names it before the next `save`."""
        name = self._loose_name("words")
        return self._segment(Parcel.of(living.segment.arrays), living.alive, name)

    def kept_block(self, parcel: Parcel, count: int) -> LivingBlock:
        """The same for so many vectors, which need not be in memory at all."""
        return self._block(parcel, np.ones(count, bool), self._loose_name("vectors"))

    def _loose_name(self, kind: str) -> str:
        name = self._new_name(kind)
        self._loose.add(name)
        return name

    def _saved_segment(self, group: Sequence[LivingSegment], worn: Worn) -> LivingSegment:
        """A group as one file; what is one already is left as it is unless it is worn."""
        first = group[0]
        if len(group) > 1 or worn(first):
            parcel = merged([one.segment for one in group], [one.alive for one in group])
            return self._segment(parcel, np.ones(sum(map(_living, group)), bool))
        if first.file and (self._path / first.file).exists():
            return first  # otherwise another process has merged it away meanwhile
        return self._segment(Parcel.of(first.segment.arrays), first.alive)

    def _saved_block(self, group: Sequence[LivingBlock], worn: Worn) -> LivingBlock:
        first = group[0]
        if len(group) > 1 or worn(first) or not first.block.is_coded:
            parcel = merged_blocks([one.block for one in group], [one.alive for one in group])
            return self._block(parcel, np.ones(sum(map(_living, group)), bool))
        if first.file and (self._path / first.file).exists():
            return first
        return self._block(Parcel.of(first.block.arrays()), first.alive)

    def _segment(self, parcel: Parcel, alive: Mask, name: str = "") -> LivingSegment:
        name = name or self._new_name("words")
        write_arrays(self._place(name), parcel)
        return LivingSegment(Segment(MappedArrays(self._path / name)), alive, name)

    def _block(self, parcel: Parcel, alive: Mask, name: str = "") -> LivingBlock:
        name = name or self._new_name("vectors")
        write_arrays(self._place(name), parcel)
        return LivingBlock(Block(MappedArrays(self._path / name)), alive, name)

    def _place(self, name: str) -> Path:
        self._path.mkdir(exist_ok=True)
        return self._path / name

    def _new_name(self, kind: str) -> str:
        return f"{kind}-{uuid.uuid4().hex[:12]}.arrays"

    def _named(self) -> set[str]:
        """The files that the manifest on the disk names, whoever wrote it."""
        try:
            return _files(json.loads((self._path / "manifest.json").read_bytes()))
        except (OSError, ValueError, KeyError, TypeError):
            return set()

    def _remove_garbage(self, in_use: set[str], replaced: set[str]) -> None:
        """Files that nothing names any more. Whoever has read the last manifest and finds one gone
        reads the present one; what no manifest has named yet may be another process's next.
        """
        done, self._loose = self._loose | replaced, set()
        for path in self._path.glob("*.arrays*"):
            try:
                age = time.time() - path.stat().st_mtime
                if path.name not in in_use and (path.name in done or age > GARBAGE_AGE):
                    path.unlink()
            except OSError:
                continue  # another process was quicker


def _files(manifest: dict[str, Any]) -> set[str]:
    return {manifest["alive"], *manifest["segments"], *manifest["blocks"]}


def compact_segments(segments: tuple[LivingSegment, ...]) -> tuple[LivingSegment, ...]:
    """In memory: merge neighbours of like size and rewrite what is mostly dead; empty ones
    disappear.
    """
    return tuple(
        group[0] if len(group) == 1 and not _mostly_dead(group[0]) else _as_one(group)
        for group in _groups(segments)
    )


def compact_blocks(blocks: tuple[LivingBlock, ...]) -> tuple[LivingBlock, ...]:
    """The same for vectors."""
    return tuple(
        group[0] if len(group) == 1 and not _mostly_dead(group[0]) else _block_as_one(group)
        for group in _groups(blocks)
    )


def _as_one(living: Sequence[LivingSegment]) -> LivingSegment:
    segment = merge([one.segment for one in living], [one.alive for one in living])
    return LivingSegment(segment, np.ones(len(segment), bool))


def _block_as_one(living: Sequence[LivingBlock]) -> LivingBlock:
    block = merge_blocks([one.block for one in living], [one.alive for one in living])
    return LivingBlock(block, np.ones(len(block), bool))


Living = TypeVar("Living", LivingSegment, LivingBlock)


def _groups(parts: Sequence[Living]) -> list[list[Living]]:
    """What is to be one: each group is several times as large as the next.

    Groups are found before anything is merged, so that no row is moved twice at once.
    """
    groups: list[tuple[int, list[Living]]] = []
    for one in parts:
        size = _living(one)
        if not size:
            continue
        groups.append((size, [one]))
        while len(groups) > 1 and groups[-2][0] <= MERGE_FACTOR * groups[-1][0]:
            (more, last), (size, before) = groups.pop(), groups.pop()
            groups.append((size + more, before + last))
    return [group for _, group in groups]


def _worthwhile(parts: Sequence[Living]) -> list[list[Living]]:
    """The same groups, but those of a few stay apart: with what comes next all would move again."""
    chosen: list[list[Living]] = []
    for group in _groups(parts):
        chosen += [group] if len(group) >= MERGE_FACTOR else [[one] for one in group]
    return chosen


def _whole(parts: Sequence[Living]) -> list[list[Living]]:
    """All that lives, as one group."""
    living = [one for one in parts if _living(one)]
    return [living] if living else []


def _partly_dead(one: LivingSegment | LivingBlock) -> bool:
    return _living(one) < len(one.alive)


def _never(one: LivingSegment | LivingBlock) -> bool:
    return False


def _mostly_dead(one: LivingSegment | LivingBlock) -> bool:
    return 2 * _living(one) < len(one.alive)


def _living(one: LivingSegment | LivingBlock) -> int:
    return int(np.count_nonzero(one.alive))


def _unpack(bits: Any, count: int) -> Mask:
    mask: Mask = np.unpackbits(np.asarray(bits), count=count).astype(bool)
    if len(mask) != count:
        raise CacheDamaged("the list of living rows does not fit its segment")
    return mask
