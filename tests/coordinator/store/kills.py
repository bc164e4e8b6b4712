"""A kill at a chosen call of the operating system, simulated within the test's process."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from unittest.mock import patch

CALLS = ("rename", "replace", "unlink", "fsync", "mkdir", "rmdir")
"""Renames, and the barriers between changes that must stay in order."""


class Killed(BaseException):
    """The process is killed here."""


def is_killed(work: Callable[[], object], calls: int) -> bool:
    """Stop the work before its call number `calls`. Returns whether it got that far."""
    left = [calls]
    with ExitStack() as patches:
        for name in CALLS:
            patches.enter_context(patch.object(os, name, _counted(getattr(os, name), left)))
        try:
            work()
        except Killed:
            return True
    return False


def _counted(call: Callable[..., object], left: list[int]) -> Callable[..., object]:
    def counted(*args: object, **kwargs: object) -> object:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return call(*args, **kwargs)

    return counted
