"""`make matrix`: Kohort on a broker of every release, a table at the end; `python -m tests.matrix 4.3.1` tries one.
The table is in docs/brokers.md too once all releases were tried."""

import sys
import tempfile
import time
import traceback
from pathlib import Path

from tests.kafka.jars import fetch
from tests.matrix.checks import BAD_WORDS, CHECKS, Check
from tests.matrix.scene import Scene, scene
from tests.matrix.table import Cell, printed, write_page
from tests.matrix.versions import RELEASES, Release


def main() -> int:
    """Try the named releases, or all; 1 where something went wrong."""
    releases = [one for one in RELEASES if one.version in sys.argv[1:]] if sys.argv[1:] else list(RELEASES)
    cells: dict[str, dict[str, Cell]] = {}
    for number, release in enumerate(releases, 1):
        began = time.monotonic()
        head = f"[{number}/{len(releases)}] {release.version}"

        def say(what: str, head: str = head, began: float = began) -> None:
            print(f"{head} {time.monotonic() - began:4.0f} s  {what}", flush=True)

        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory,
            scene(release, fetch(), Path(directory), say) as made,
        ):
            cells[release.version] = {}
            for check in CHECKS:
                cells[release.version][check.name] = cell = tried(check, release, made)
                say(f"{check.name}: {cell.words or ('works' if cell.works else '–')}")
    print(printed(cells))
    failed = any(cell.failed for column in cells.values() for cell in column.values())
    if not failed and len(releases) == len(RELEASES):
        write_page(cells)
    return int(failed)


def tried(check: Check, release: Release, made: Scene) -> Cell:
    if not set(check.types) & set(release.types):
        return Cell(works=None, words="")
    try:
        words = check.run(made)
        if release.since(check.since):
            assert not words, words
        else:
            assert words, "nothing is said"
            assert not any(bad in words for bad in BAD_WORDS), words
    except Exception:
        # Whatever went wrong, the other checks are tried.
        traceback.print_exc()
        return Cell(works=False, words="FAILED", failed=True)
    return Cell(works=not words, words=words)


if __name__ == "__main__":
    sys.exit(main())
