"""What RE2/J, the broker's engine, says of patterns: many in one Java process."""

import base64
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kafka.programs import program

TIMEOUT_S = 150.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """RE2/J's word on a pattern: the topics whose whole names it matches, or why it does not compile."""

    matched: tuple[str, ...] = ()
    error: str | None = None


def ask(jars: Path, patterns: Sequence[str], topics: Sequence[str] = ()) -> list[Said]:
    """Compile each pattern, and match it with each topic."""
    lines = [f"topic {_encoded(topic)}" for topic in topics] + [f"pattern {_encoded(p)}" for p in patterns]
    done = subprocess.run(
        program(jars, "Regexes", heap_mb=512),
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    return [_said(line, topics) for line in done.stdout.splitlines()]


def _said(line: str, topics: Sequence[str]) -> Said:
    verdict, _, rest = line.partition(" ")
    if verdict == "ok":
        return Said(matched=tuple(topic for topic, flag in zip(topics, rest, strict=True) if flag == "1"))
    return Said(error=base64.b64decode(rest).decode())


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
