"""A file system of a megabyte, if the tests may mount one."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(path: Path, *, kilobytes: int = 1_024) -> Iterator[Path]:
    """A new, empty file system at `path`. Skips the test if only root may do that."""
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("a file system cannot be mounted here")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def fill(path: Path, *, leave: int = 0) -> Path:
    ballast = path / "ballast"
    free = os.statvfs(path)
    ballast.write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - leave))
    return ballast
