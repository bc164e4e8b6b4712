"""What is made once in a run of the tests, however many processes run them."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.sources.jars import filled


def once(factory: pytest.TempPathFactory, name: str, fill: Callable[[Path], None]) -> Path:
    """Return a directory of the run that `fill` has made; who asks meanwhile waits for it. A process of xdist has its
    own directory within that of the run."""
    base = factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (run / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return filled(run / f"made-{name}", fill)
