"""How the tool says what went wrong."""

from __future__ import annotations

import sys

from cli.render.cells import safe_text


def print_error(message: str) -> None:
    """An error; the tool prints it where it prints its answers."""
    print(f"\nError: {_safe(message)}")


def print_remark(message: str) -> None:
    """What the tool says beside its answers."""
    if sys.stderr is not None:  # else print would take stdout
        print(_safe(message), file=sys.stderr)


def _safe(message: str) -> str:
    """The lines of a message, what would steer a terminal escaped."""
    return "\n".join(map(safe_text, message.split("\n")))


def print_warning(message: str) -> None:
    """A warning of the tool's own log, as config/tools-log4j2.yaml of a Kafka distribution has it printed."""
    from datetime import datetime

    now = datetime.now()
    time = f"{now:%Y-%m-%d %H:%M:%S},{now.microsecond // 1000:03}"
    print_remark(f"[{time}] WARN {message} (org.apache.kafka.tools.OffsetsUtils)")
