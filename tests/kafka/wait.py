"""Wait for a condition by asking for it again and again, never by sleeping and hoping."""

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_S = 150.0
"""What is waited for comes at once or, on a crowded machine, late: only a failure costs so long."""
RAREST_S = 0.5
Found = TypeVar("Found")


def wait_until(
    check: Callable[[], Found | None],
    what: str | Callable[[], str],
    *,
    timeout_s: float = PATIENCE_S,
    every_s: float = 0.05,
) -> Found:
    """Return the first answer of `check` that is true; `what` is said when the time is up. What takes long is checked
    less often: a third of the time is enough for it."""
    deadline = time.monotonic() + timeout_s
    while True:
        began = time.monotonic()
        answer = check()
        if answer:
            return answer
        if time.monotonic() >= deadline:
            said = what() if callable(what) else what
            raise TimeoutError(f"not within {timeout_s:g} s: {said}")
        time.sleep(max(every_s, min(2 * (time.monotonic() - began), RAREST_S)))
