"""Calls of libraries without a timeout: run in a thread, and abandoned at the deadline."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from wire.client.steps import Deadline

T = TypeVar("T")


def in_time(call: Callable[[], T], deadline: Deadline) -> T:
    """The result of `call`, or its exception. :raises TimeoutError: the deadline passed first"""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as error:  # raised again in the caller
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(deadline.remaining_ms() / 1000)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError
    return results[0]
