"""The partitions that `--topic` selects: whole topics, or `orders:0,1`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from cli.dropin.errors import ToolFailure, ToolUsageError
from cli.dropin.kafka_errors import error_message, status_of
from cli.dropin.parse import java_number
from groups.model import TopicPartition
from wire.client.cluster import KafkaClient
from wire.client.metadata import TopicMetadata
from wire.errors import ErrorCode, Failure


def split_topics(arguments: Sequence[str]) -> tuple[list[TopicPartition], list[str]]:
    """The partitions that values of `--topic` name, and the topics that they select as a whole.

    :raises ToolUsageError: a value is malformed
    """
    named = [place for text in arguments if ":" in text for place in named_partitions(text)]
    return named, [text for text in arguments if ":" not in text]


def named_partitions(argument: str) -> list[TopicPartition]:
    """The partitions of `orders:0,1`, in that order; empty parts at an end are skipped, as Java's `split` does.

    :raises ToolUsageError: it is malformed
    """
    parts = _split(argument, ":")
    if len(parts) != 2:
        raise ToolUsageError(f"Invalid topic arg '{argument}', expected topic name and partitions")
    topic, numbers = parts
    return [(topic, _number(argument, number)) for number in _split(numbers, ",")]


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


@dataclass(slots=True)
class ClusterTopics:
    """Topics of the cluster; each is requested once."""

    client: KafkaClient
    found: dict[str, TopicMetadata] = field(default_factory=dict)
    failed: dict[str, Failure] = field(default_factory=dict)
    _leaders: dict[TopicPartition, int] = field(default_factory=dict)
    """The leader of every partition of the topics found; negative without a leader."""

    def describe(self, names: Iterable[str]) -> None:
        """Fill `found` and `failed` with the named topics."""
        new = [name for name in dict.fromkeys(names) if name not in self.found and name not in self.failed]
        if "" in new:
            # Java's client never sends an empty name.
            message = "The given topic name '' cannot be represented in a request."
            self.failed[""] = Failure(
                message=message, code=ErrorCode.INVALID_TOPIC_EXCEPTION, name="INVALID_TOPIC_EXCEPTION"
            )
            new.remove("")
        if not new:
            return
        metadata = self.client.metadata(new)
        self.found |= metadata.topics
        self._leaders |= {
            (topic.name, each.partition_index): each.leader_id
            for topic in metadata.topics.values()
            for each in topic.partitions
        }
        self.failed |= metadata.failed
        left_out = Failure(message="the broker has no answer for it")
        self.failed |= {name: left_out for name in new if name not in self.found and name not in self.failed}

    def failures(self, names: Iterable[str]) -> list[Failure]:
        """Why some of the topics could not be described, in the order of the names."""
        self.describe(names := list(dict.fromkeys(names)))
        return [self.failed[name] for name in names if name in self.failed]

    def meant(self, arguments: Sequence[str]) -> list[TopicPartition]:
        """The partitions that values of `--topic` select, each once.

        :raises ToolUsageError: a value is malformed
        :raises ToolFailure: a whole topic does not exist
        """
        named, whole = split_topics(arguments)
        for failure in self.failures(whole):
            raise ToolFailure(error_message(failure), status_of([failure]))
        return list(dict.fromkeys([*named, *self.places(whole)]))

    def places(self, names: Sequence[str]) -> list[TopicPartition]:
        """All partitions of the topics that could be described."""
        self.describe(names)
        return [
            (name, each.partition_index)
            for name in names
            if name in self.found
            for each in self.found[name].partitions
        ]

    def missing(self, places: Sequence[TopicPartition]) -> list[TopicPartition]:
        """The partitions that do not exist in their topics."""
        return [place for place in places if place not in self._leaders]

    def without_leader(self, places: Sequence[TopicPartition]) -> list[TopicPartition]:
        """The existing partitions that have no leader."""
        return [place for place in places if self._leaders[place] < 0]
