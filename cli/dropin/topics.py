"""Which partitions `--topic` means: whole topics, or `orders:0,1`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cli.dropin.errors import ToolFailure, ToolUsageError
from cli.dropin.java_maps import in_order, in_order_copied, in_order_presized
from cli.dropin.kafka_errors import error_message
from cli.dropin.numbers import java_number
from cli.dropin.refusals import status_of
from groups.offsets.model import Place
from wire.client.answers import Failure
from wire.client.calls.metadata import Topic
from wire.client.client import Client

_INVALID_TOPIC = 17


def named_partitions(argument: str) -> list[Place]:
    """The partitions of `orders:0,1`, in that order.

    :raises ToolUsageError: it is not written like that; empty parts at an end are passed by, as Java's `split` does
    """
    parts = _split(argument, ":")
    if len(parts) != 2:
        raise ToolUsageError(f"Invalid topic arg '{argument}', expected topic name and partitions")
    topic, numbers = parts
    return [(topic, _number(argument, number)) for number in _split(numbers, ",")]


def names_partitions(argument: str) -> bool:
    """Whether a value of `--topic` names partitions beside the topic."""
    return ":" in argument


def _split(text: str, separator: str) -> list[str]:
    parts = text.split(separator)
    while parts and not parts[-1]:
        parts.pop()
    return parts


def _number(argument: str, text: str) -> int:
    number = java_number(text, 32)
    if number is None:
        raise ToolUsageError(f"Invalid partition '{text}' specified in topic arg '{argument}''")
    return number


def _as_described(names: Iterable[str]) -> list[str]:
    """The order in which Java's AdminClient gives back the topics that it was asked for."""
    return in_order_presized(in_order_copied(in_order_presized(names)))


@dataclass(slots=True)
class Topics:
    """What the cluster tells of topics; each is asked for once."""

    client: Client
    timeout_ms: int
    found: dict[str, Topic] = field(default_factory=dict)
    failed: dict[str, Failure] = field(default_factory=dict)

    def describe(self, names: Iterable[str]) -> None:
        """Fill `found` and `failed` with the named topics."""
        new = [name for name in dict.fromkeys(names) if name not in self.found and name not in self.failed]
        if "" in new:
            # Java's client never sends it.
            message = "The given topic name '' cannot be represented in a request."
            self.failed[""] = Failure(message=message, code=_INVALID_TOPIC, name="INVALID_TOPIC_EXCEPTION")
            new.remove("")
        if not new:
            return
        metadata = self.client.metadata(new, timeout_ms=self.timeout_ms)
        self.found |= metadata.topics
        self.failed |= metadata.failed
        left_out = Failure(message="the broker left it out of its answer")
        self.failed |= {name: left_out for name in new if name not in self.found and name not in self.failed}

    def failures(self, names: Iterable[str]) -> list[Failure]:
        """Why some of the topics could not be described, in the order of the names."""
        self.describe(names := list(names))
        return [self.failed[name] for name in names if name in self.failed]

    def meant(self, arguments: Sequence[str]) -> list[Place]:
        """The partitions that values of `--topic` mean, each once: first those that are named, then whole topics.

        :raises ToolUsageError: a value is not written as it should be
        :raises ToolFailure: a whole topic is not there
        """
        named = [place for text in arguments if names_partitions(text) for place in named_partitions(text)]
        whole = [text for text in arguments if not names_partitions(text)]
        for failure in self.failures(in_order(whole)):
            raise ToolFailure(error_message(failure), status_of([failure]))
        return list(dict.fromkeys([*named, *self.places(whole)]))

    def places(self, names: Sequence[str]) -> list[Place]:
        """All partitions of the topics that could be described, in the tool's order of topics."""
        self.describe(names)
        return [
            (name, partition.index)
            for name in _as_described(names)
            if name in self.found
            for partition in self.found[name].partitions
        ]

    def missing(self, places: Sequence[Place]) -> list[Place]:
        """Those of the partitions that their topics do not have."""
        there = {place for topic in {topic for topic, _ in places} for place in self._of(topic)}
        return [place for place in places if place not in there]

    def without_leader(self, places: Sequence[Place]) -> list[Place]:
        """Those of the partitions that no broker leads, in the tool's order of topics."""
        wanted = set(places)
        return [
            (name, partition.index)
            for name in _as_described(in_order(topic for topic, _ in places))
            for partition in self.found[name].partitions
            if partition.leader < 0 and (name, partition.index) in wanted
        ]

    def _of(self, topic: str) -> list[Place]:
        return [(topic, partition.index) for partition in self.found[topic].partitions]
