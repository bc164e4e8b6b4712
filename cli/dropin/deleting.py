"""`--delete` and `--delete-offsets`: groups without members, with their committed offsets, or offsets alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cli.dropin.cluster import by_name, chosen_groups, client_of
from cli.dropin.errors import BadValue
from cli.dropin.kafka_errors import error_message, exception_text, status_of
from cli.dropin.parse import Options
from cli.dropin.printing import print_error, remark_unknown, row, width_of
from cli.dropin.topics import ClusterTopics, split_topics
from cli.render.cells import MISSING
from cli.sources.live import LiveSource
from groups.model import TopicPartition
from wire.client import groups, offsets
from wire.client.errors import Answers
from wire.errors import Failure

_OF_THE_GROUP = (24, 30, 68, 69)
"""INVALID_GROUP_ID, GROUP_AUTHORIZATION_FAILED, NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND."""
_OF_A_PARTITION = (3, 29, 86)
"""UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED, GROUP_SUBSCRIBED_TO_TOPIC."""
_NO_PARTITION = -1
_WIDTHS = (10, 15)
"""The widths of PARTITION and STATUS."""


def delete_groups(options: Options, source: LiveSource) -> int:
    """Delete the groups and print which are deleted and which are not; the exit status."""
    names, status = chosen_groups(options, source)
    outcome = _delete(source, names)
    failed = {name: why for name in names if (why := outcome[name]) is not None}
    remark_unknown(failed.values())
    gone = _quoted(name for name in names if name not in failed)
    if not failed:
        print(f"Deletion of requested consumer groups ({gone}) was successful.")
        return status
    print_error("Deletion of some consumer groups failed:")
    for name, why in failed.items():
        print(f"* Group '{name}' could not be deleted due to: {exception_text(why)}")
    if gone:
        print(f"\nThese consumer groups were deleted successfully: {gone}")
    return max(status, status_of(failed.values()))


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _delete(source: LiveSource, names: list[str]) -> dict[str, Failure | None]:
    """The outcome by group: None if it was deleted, else why not."""
    if source.client is not None:
        failed = groups.delete_groups(source.client, names).failed
    else:
        # The tool prints the Java error of a code, not the broker's message.
        refused = source.admin.delete_groups(names).failed
        failed = {
            name: why if why.code is None else replace(why, message=why.name or why.message)
            for name, why in refused.items()
        }
    return {name: failed.get(name) for name in names}


def delete_offsets(options: Options, source: LiveSource) -> int:
    """Delete the offsets and print the outcome of every partition; the exit status."""
    if len(options.groups) > 1:
        raise BadValue("Found multiple arguments for option group, but you asked for only one")
    (group,) = options.groups
    client = client_of(source, "kafka-consumer-groups.sh")
    topics = ClusterTopics(client)
    named, whole = split_topics(options.topics)
    places = list(dict.fromkeys([*named, *topics.places(whole)]))
    answers = offsets.delete_offsets(client, {group: places})
    outcome: dict[TopicPartition, Failure | None] = {
        (topic, _NO_PARTITION): topics.failed[topic] for topic in whole if topic in topics.failed
    }
    outcome |= {place: _of_place(place, group, answers) for place in places}
    failures = [failure for failure in (answers.failed.get(group), *outcome.values()) if failure]
    remark_unknown(failures)
    _print_outcome(group, answers.failed.get(group) or next(filter(None, map(outcome.get, places)), None))
    _print_table(outcome)
    return status_of(failures)


def _of_place(
    place: TopicPartition, group: str, answers: Answers[str, dict[TopicPartition, Failure | None]]
) -> Failure | None:
    left_out = Failure(
        message=f"java.lang.IllegalArgumentException: Offset deletion result for partition "
        f'"{place[0]}-{place[1]}" was not included in the response'
    )
    return answers.failed.get(group) or answers.found[group].get(place, left_out)


def _print_outcome(group: str, failure: Failure | None) -> None:
    if failure is None:
        print(f"Request succeeded for deleting offsets from group {group}.")
    elif failure.code in _OF_THE_GROUP:
        print_error(error_message(failure))
    elif failure.code in _OF_A_PARTITION:
        print_error("Encountered some partition-level error, see the follow-up details.")
    else:
        print_error(f"Encountered some unknown error: {failure.name or failure.message}")


def _print_table(outcome: Mapping[TopicPartition, Failure | None]) -> None:
    widths = (width_of(topic for topic, _ in outcome), *_WIDTHS)
    print("\n" + row(("TOPIC", "PARTITION", "STATUS"), widths), end="")
    for topic, partition in sorted(outcome, key=lambda place: by_name(f"{place[0]}{place[1]}")):
        number = MISSING if partition < 0 else str(partition)
        failure = outcome[topic, partition]
        status = "Successful" if failure is None else f"Error: {exception_text(failure)}"
        print("\n" + row((topic, number, status), widths), end="")
    print()
