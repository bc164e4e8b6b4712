"""What Kafka itself makes of records of `__consumer_offsets`, by kafka-dump-log's own parser, in one Java process
(`java/RecordsOracle.java`)."""

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tests.kafka.programs import SILENT, program

TIMEOUT_S = 250.0

Bytes: TypeAlias = tuple[bytes, bytes | None]  # key and value


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumped:
    """What the dump tool prints behind ``key:`` and ``payload:`` at offset 0, and what Kafka writes of what it read.
    `rewritten` is None where it cannot read the record, or not write it."""

    key: str | None
    payload: str | None
    rewritten: Bytes | None

    @property
    def is_read(self) -> bool:
        return self.key is not None and self.key.startswith("{")


def record_types(jars: Path) -> dict[int, dict[str, Any]]:
    return {int(number): said for number, said in _ask(jars, [{"do": "types"}])[0].items()}


def dump(jars: Path, records: Iterable[Bytes]) -> list[Dumped]:
    questions = [{"do": "dump", "key": key.hex(), "value": _hex(value)} for key, value in records]
    return [
        Dumped(
            key=said["key"],
            payload=said["payload"],
            rewritten=None if said["rewritten"] is None else _bytes(said["rewritten"]),
        )
        for said in _ask(jars, questions)
    ]


def encode(
    jars: Path, records: Iterable[tuple[int, Mapping[str, Any], int, Mapping[str, Any]]]
) -> list[Bytes]:
    questions = [
        {"do": "encode", "type": number, "key": key, "version": version, "value": value}
        for number, key, version, value in records
    ]
    return [_bytes(said) for said in _ask(jars, questions)]


def write_again(jars: Path, records: Iterable[Bytes]) -> list[Bytes]:
    """The record that a coordinator would write of each that it has read; types 1, 5, 7 and 8. Group, member, topic and
    partition are ``g``, ``m``, ``t`` and 0."""
    questions = [{"do": "again", "key": key.hex(), "value": _hex(value)} for key, value in records]
    return [_bytes(said) for said in _ask(jars, questions)]


def _ask(jars: Path, questions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    command = program(jars, "RecordsOracle", heap_mb=512, options=[SILENT])
    done = subprocess.run(
        command, input=lines, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def _bytes(said: Mapping[str, str | None]) -> Bytes:
    key, value = said["key"], said["value"]
    assert key is not None
    return bytes.fromhex(key), None if value is None else bytes.fromhex(value)


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()
