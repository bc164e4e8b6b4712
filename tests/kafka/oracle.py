"""Kafka's own assignors, in one long-lived Java process (`java/AssignorOracle.java`): the oracle of ours, asked by
lines of JSON. Members and owned partitions keep their order on the way."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from assignors.model import Claim, GroupSpec, MemberSpec, TopicSpec
from tests.kafka.java import ALL_COMPILERS
from tests.kafka.programs import SILENT, Answerer

Named = dict[str, dict[str, list[int]]]  # member id → topic → partition numbers ascending


class JavaThrewError(Exception):
    """The Java assignor threw; the message is the throwable's, None where it has none."""

    def __init__(self, kind: str, message: str | None) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    wall_ms: list[float]
    cpu_ms: list[float]


class Oracle(Answerer):
    def assign(self, side: str, assignor: str, spec: GroupSpec) -> Named:
        """What Java assigns; on the broker's side topics are in the order of the target's map."""
        answer = self.answer({"side": side, "assignor": assignor, **as_json(spec)})
        return {
            member: {topic: partitions for topic, partitions in topics.items() if partitions}
            for member, topics in answer["assignment"].items()
        }

    def time(self, side: str, assignor: str, spec: GroupSpec, runs: int) -> Timing:
        answer = self.answer({"side": side, "assignor": assignor, "runs": runs, **as_json(spec)})
        return Timing(wall_ms=answer["ms"], cpu_ms=answer["cpu_ms"])

    def order(
        self, kind: str, keys: Sequence[Any], *, copied: bool = False, capacity: int | None = None
    ) -> tuple[list[int], list[int]]:
        """Iteration order of a HashSet of the keys (as indices) and their hash codes."""
        question: dict[str, Any] = {"type": kind, "strings": list(keys), "copied": copied}
        if capacity is not None:
            question["capacity"] = capacity
        answer = self.answer(question)
        return answer["order"], answer["hashes"]

    def operated(self, capacity: int, operations: Sequence[tuple[str, UUID]]) -> list[UUID]:
        """Iteration order of a `new HashMap<>(capacity)` by topic id after put, compute_if_absent and remove."""
        asked = [(name, str(key)) for name, key in operations]
        return [UUID(text) for text in self.answer({"capacity": capacity, "operations": asked})["order"]]

    def metadata_hashes(self, topics: Sequence[TopicSpec]) -> tuple[dict[str, int], int]:
        """What a broker compares to see whether topics changed: each one's number, and that of all, signed."""
        answer = self.answer({"hashed": [_topic(topic) for topic in topics]})
        return answer["topics"], answer["group"]

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        answer = super().answer(question)
        if "class" in answer:
            raise JavaThrewError(answer["class"], answer["error"])
        return answer


@contextmanager
def running(jars: Path, *, heap_mb: int = 2048, options: Sequence[str] = ()) -> Iterator[Oracle]:
    # Else a hot piece of code that throws often throws an exception without a message after a while.
    usual = (ALL_COMPILERS, "-XX:-OmitStackTraceInFastThrow", SILENT)
    with closing(Oracle(jars, "AssignorOracle", heap_mb=heap_mb, options=[*usual, *options])) as oracle:
        yield oracle


def as_json(spec: GroupSpec) -> dict[str, Any]:
    return {"topics": [_topic(t) for t in spec.topics], "members": [_member(m) for m in spec.members]}


def _topic(topic: TopicSpec) -> dict[str, Any]:
    return {
        "name": topic.name,
        "partitions": topic.partitions,
        "id": None if topic.id is None else str(topic.id),
        "racks": topic.racks,
    }


def _member(member: MemberSpec) -> dict[str, Any]:
    return {
        "id": member.id,
        "topics": list(member.topics),
        "instance": member.instance,
        "rack": member.rack,
        "owned": _partitions(member.owned),
        "generation": member.owned.generation,
        "user_data": None if member.user_data is None else b64encode(member.user_data).decode(),
        "by_regex": list(member.by_regex),
    }


def _partitions(claim: Claim) -> dict[str, list[int]]:
    return {topic: [int(p) for p in numbers] for topic, numbers in claim.partitions.items()}
