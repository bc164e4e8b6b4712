"""`--delete` and `--delete-offsets` of `kohort-consumer-groups`, and the topics that an argument names."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from cli.dropin.cluster import by_name, chosen_groups, client_of
from cli.dropin.errors import ToolFailure, ToolUsageError, error_message, exception_text, status_of
from cli.dropin.flags import java_number
from cli.dropin.journaling import delete_groups, journaled, journaled_offsets
from cli.dropin.parse import Options
from cli.dropin.printing import ToolColumn, print_error, remark_unknown, table
from cli.journal.entry import ChangedItem, ItemKind
from cli.render.cells import safe_text
from cli.sources.live import LiveSource
from cli.sources.wire_source import WireSource
from groups.model import TopicPartition
from wire.client import offsets
from wire.client.cluster import KafkaClient
from wire.client.errors import Answers
from wire.client.metadata import TopicMetadata
from wire.client.settings import delete_topics
from wire.errors import ErrorCode, Failure

T = TypeVar("T")


def split_topics(arguments: Sequence[str]) -> tuple[list[TopicPartition], list[str]]:
    """The named partitions, and the topics that are selected as a whole. Raises ToolUsageError: malformed."""
    named = [partition for text in arguments if ":" in text for partition in named_partitions(text)]
    return named, [text for text in arguments if ":" not in text]


def named_partitions(argument: str) -> list[TopicPartition]:
    """The partitions of `orders:0,1`; empty parts at an end are skipped, as in Java. Raises ToolUsageError:
    malformed."""
    parts = _split(argument, ":")
    if len(parts) != 2:
        raise ToolUsageError(f"Invalid topic arg '{argument}', expected topic name and partitions")
    places = []
    for text in _split(parts[1], ","):
        number = java_number(text, 32)
        if number is None:
            raise ToolUsageError(f"Invalid partition '{text}' specified in topic arg '{argument}''")
        places.append((parts[0], number))
    return places


def _split(text: str, separator: str) -> list[str]:
    parts = text.split(separator)
    while parts and not parts[-1]:
        parts.pop()
    return parts


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
            code = ErrorCode.INVALID_TOPIC_EXCEPTION
            message = "The given topic name '' cannot be represented in a request."
            self.failed[""] = Failure(message=message, code=code, name=code.name)
            new.remove("")
        if not new:
            return
        metadata = self.client.metadata(new)
        self.found |= metadata.topics
        self._leaders |= {
            (topic.name, partition.partition_index): partition.leader_id
            for topic in metadata.topics.values()
            for partition in topic.partitions
        }
        self.failed |= metadata.failed
        left_out = Failure(message="the broker has no answer for it")
        self.failed |= {name: left_out for name in new if name not in self.found and name not in self.failed}

    def failures(self, names: Iterable[str]) -> list[Failure]:
        """Why some of the topics could not be described, in the order of the names."""
        self.describe(names := list(dict.fromkeys(names)))
        return [self.failed[name] for name in names if name in self.failed]

    def meant(self, arguments: Sequence[str]) -> list[TopicPartition]:
        """The partitions that values of `--topic` select, each once. Raises ToolUsageError: a value is malformed.
        Raises ToolFailure: a whole topic does not exist."""
        named, whole = split_topics(arguments)
        for failure in self.failures(whole):
            raise ToolFailure(error_message(failure), status_of([failure]))
        return list(dict.fromkeys([*named, *self.places(whole)]))

    def places(self, names: Sequence[str]) -> list[TopicPartition]:
        """All partitions of the topics that could be described."""
        self.describe(names)
        return [
            (name, partition.partition_index)
            for name in dict.fromkeys(names)
            if name in self.found
            for partition in self.found[name].partitions
        ]

    def unusable(self, places: Sequence[TopicPartition]) -> dict[str, list[TopicPartition]]:
        """The partitions without a leader, by what is the matter with them."""
        leaders = self._leaders
        return {
            "do not exist": [place for place in places if place not in leaders],
            "have no leader": [place for place in places if leaders.get(place, 0) < 0],
        }


OF_THE_GROUP = (24, 30, 68, 69)
"""INVALID_GROUP_ID, GROUP_AUTHORIZATION_FAILED, NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND."""
_OF_A_PARTITION = (3, 29, 86)
"""UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED, GROUP_SUBSCRIBED_TO_TOPIC."""
_NO_PARTITION = -1


def delete_internal_topics(source: LiveSource, group: str, topics: Iterable[str]) -> Answers[str, bool]:
    """Delete internal topics of a group."""
    client, doomed = client_of(source, "kohort delete"), dict.fromkeys(topics)
    item = ChangedItem(kind=ItemKind.TOPIC, group=group, before="internal topic")
    items = [replace(item, topic=name) for name in doomed]
    return journaled(source, "delete", lambda: items, lambda: delete_topics(client, doomed))


def run_delete(options: Options, source: LiveSource) -> int:
    """Delete the groups and print which are deleted and which are not; the exit status."""
    names, status = chosen_groups(options, source)
    outcome = delete_groups(source, names).failed
    failed = {name: outcome[name] for name in names if name in outcome}
    if not isinstance(source, WireSource):
        # The tool prints the Java error of a code, not the broker's message.
        for name, why in failed.items():
            failed[name] = why if why.code is None else replace(why, message=why.name or why.message)
    print_deleted("consumer groups", names, failed)
    return max(status, status_of(failed.values()))


def print_deleted(what: str, names: Iterable[str], failed: Mapping[str, Failure], *, end: str = "") -> None:
    """Print which groups are deleted, and why others are not. `end` ends the list of the former if there are both."""
    remark_unknown(failed.values())
    gone = ", ".join(f"'{name}'" for name in dict.fromkeys(names) if name not in failed)
    if not failed:
        print(f"Deletion of requested {what} ({safe_text(gone)}) was successful.")
        return
    print_error(f"Deletion of some {what} failed:")
    for name, why in failed.items():
        print(safe_text(f"* Group '{name}' could not be deleted due to: {exception_text(why)}"))
    if gone:
        print(f"\nThese {what} were deleted successfully: {safe_text(gone)}{end}")


def delete_offsets(
    options: Options, source: LiveSource, places: Sequence[TopicPartition] | None = None
) -> int:
    """Delete the offsets of some partitions, by default of those that the command line names, and print the outcome of
    each; the exit status."""
    group, client = options.group, client_of(source, "kafka-consumer-groups.sh")
    topics = ClusterTopics(client)
    named, whole = split_topics(options.topics)
    doomed = [*dict.fromkeys([*named, *topics.places(whole)])] if places is None else places
    send = partial(offsets.delete_offsets, client, {group: doomed})
    answers = journaled_offsets(source, group, lambda _: dict.fromkeys(doomed), send)
    outcome: dict[TopicPartition, Failure | None] = {
        (topic, _NO_PARTITION): topics.failed[topic] for topic in whole if topic in topics.failed
    }
    refused = answers.failed.get(group)
    for topic, number in doomed:
        why = f'Offset deletion result for partition "{topic}-{number}" was not included in the response'
        left_out = Failure(message=f"java.lang.IllegalArgumentException: {why}")
        outcome[topic, number] = refused or answers.found[group].get((topic, number), left_out)
    failures = [failure for failure in (refused, *outcome.values()) if failure]
    remark_unknown(failures)
    failure = refused or next(filter(None, map(outcome.get, doomed)), None)
    if failure is None:
        print(f"Request succeeded for deleting offsets from group {group}.")
    elif failure.code in OF_THE_GROUP:
        print_error(error_message(failure))
    elif failure.code in _OF_A_PARTITION:
        print_error("Encountered some partition-level error, see the follow-up details.")
    else:
        print_error(f"Encountered some unknown error: {failure.name or failure.message}")
    order = sorted(outcome, key=lambda place: by_name(f"{place[0]}{place[1]}"))
    print_outcomes(
        {place: outcome[place] for place in order},
        ToolColumn("TOPIC", lambda place: place[0]),
        ToolColumn("PARTITION", lambda place: None if place[1] < 0 else place[1], 10),
        text=exception_text,
        width=15,
    )
    return status_of(failures)


def print_outcomes(
    outcomes: Mapping[T, Failure | None],
    *columns: ToolColumn[T],
    text: Callable[[Failure], str],
    width: int = 0,
) -> None:
    """Print a table of what was deleted, or the `text` of why it was not."""

    def status(key: T) -> str:
        return f"Error: {text(why)}" if (why := outcomes[key]) else "Successful"

    print("\n" + table(outcomes, *columns, ToolColumn("STATUS", status, width)))
