"""Going through the files of `kohort log dump`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from cli.progress import Progress
from cli.verbs.log_dump.chunks import Chunk, chunks_of
from cli.verbs.log_dump.segment import Segment, shown_path
from cli.verbs.log_dump.texts import Texts
from cli.verbs.log_dump.wanted import Wanted
from cli.verbs.log_dump.writers import Writer
from groups.model import Problem
from wire.log.batch_header import Batches
from wire.log.damage import DamagedLog


def dump(files: Sequence[Path], wanted: Wanted, writer: Writer, *, batches: bool) -> tuple[Problem, ...]:
    """Write the wanted records of segments, or their batches; the answer is what could not be read."""
    problems: list[Problem] = []
    texts = Texts()
    sizes = [_size(path) for path in files]
    with Progress("reading", total=sum(sizes)) as progress:
        for place, path in enumerate(files):
            before = sum(sizes[:place])
            segment = _read(path)
            if isinstance(segment, Problem):
                problems.append(segment)
                continue
            writer.file(segment.file)
            for found in _batches(segment, wanted) if batches else chunks_of(segment, wanted, texts):
                if isinstance(found, Problem):
                    problems.append(found)
                elif isinstance(found, Chunk):
                    writer.records(found)
                    progress.at(before + found.end)
                else:
                    writer.batches(found)
    writer.end(problems)
    return tuple(problems)


def _batches(segment: Segment, wanted: Wanted) -> Iterator[Batches | Problem]:
    for part in segment.parts():
        yield wanted.batches(part.batches)
        problem = segment.damage(part)
        if problem is not None:
            yield problem


def _read(path: Path) -> Segment | Problem:
    try:
        return Segment.read(path)
    except OSError as error:
        return Problem(subject=shown_path(path), message=f"cannot be read: {error.strerror or error}")
    except DamagedLog as error:
        return Problem(subject=shown_path(path), message=error.reason)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
