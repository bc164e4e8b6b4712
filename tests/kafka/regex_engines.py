"""What RE2/J and java.util.regex say of patterns: a JVM that answers as many as it is asked."""

import base64
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.kafka.java import ALL_COMPILERS
from tests.kafka.programs import program

TIMEOUT_S = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """One engine's word: the topics matched whole, or why it does not compile, or neither when it was too slow."""

    matched: frozenset[str] | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Engines:
    broker: Engine
    java: Engine


def ask_engines(jars: Path, patterns: Sequence[str], topics: Sequence[str]) -> list[Engines]:
    """Compile each pattern in both engines and match it with each topic; KOHORT_JAVA names another Java."""
    lines = [f"topic {_encoded(topic)}" for topic in topics] + [f"pattern {_encoded(p)}" for p in patterns]
    _, *command = program(jars, "RegexEngines", heap_mb=512, options=(ALL_COMPILERS,))
    java = os.environ.get("KOHORT_JAVA", "java")
    done = subprocess.run(
        [java, *command],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    return list(_read(done.stdout, topics))


def _read(text: str, topics: Sequence[str]) -> Iterator[Engines]:
    for line in text.splitlines():
        re2j, re2j_said, java, java_said = line.split(" ")
        yield Engines(broker=_engine(re2j, re2j_said, topics), java=_engine(java, java_said, topics))


def _engine(verdict: str, said: str, topics: Sequence[str]) -> Engine:
    if verdict == "slow":
        return Engine()
    raw = base64.b64decode(said)
    if verdict == "no":
        return Engine(error=raw.decode(errors="replace"))
    bits = int.from_bytes(raw, "little")
    return Engine(matched=frozenset(topic for index, topic in enumerate(topics) if bits >> index & 1))


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
