"""`--delete-offsets`: a group forgets what it has committed for topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cli.dropin.connection import client_of
from cli.dropin.errors import BadValue
from cli.dropin.java_maps import in_order
from cli.dropin.kafka_errors import error_message, exception_text
from cli.dropin.options import Options
from cli.dropin.reading import by_name
from cli.dropin.refusals import status_of
from cli.dropin.tables import row, width_of
from cli.dropin.topics import Topics, named_partitions, names_partitions
from cli.dropin.words import print_error
from cli.render.cells import MISSING
from groups.offsets.model import Place
from wire.client.answers import Answers, Failure

if TYPE_CHECKING:
    from cli.sources.live import LiveSource

Outcome = Mapping[Place, Failure | None]

_OF_THE_GROUP = (24, 30, 68, 69)
"""INVALID_GROUP_ID, GROUP_AUTHORIZATION_FAILED, NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND."""
_OF_A_PARTITION = (3, 29, 86)
"""UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED, GROUP_SUBSCRIBED_TO_TOPIC."""
_NO_PARTITION = -1
_WIDTHS = (10, 15)
"""Of PARTITION and STATUS."""


def run(options: Options, source: LiveSource) -> int:
    """Delete the offsets and say of every partition what became of it; the exit status."""
    if len(options.groups) > 1:
        raise BadValue("Found multiple arguments for option group, but you asked for only one")
    (group,) = options.groups
    client = client_of(source, "kafka-consumer-groups.sh")
    topics = Topics(client, source.timeout_ms)
    named = [place for text in options.topics if names_partitions(text) for place in named_partitions(text)]
    whole = [text for text in options.topics if not names_partitions(text)]
    places = list(dict.fromkeys([*named, *topics.places(whole)]))
    told = client.delete_offsets({group: places}, timeout_ms=source.timeout_ms)
    outcome: dict[Place, Failure | None] = {
        (topic, _NO_PARTITION): topics.failed[topic] for topic in whole if topic in topics.failed
    }
    outcome |= {place: _of_place(place, group, told) for place in places}
    first = next((outcome[place] for place in in_order(places) if outcome[place]), None)
    _say_how_it_went(group, told.failed.get(group) or first)
    _print_table(outcome)
    return status_of(failure for failure in (*outcome.values(), told.failed.get(group)) if failure)


def _of_place(place: Place, group: str, told: Answers[str, dict[Place, Failure | None]]) -> Failure | None:
    left_out = Failure(
        message=f"java.lang.IllegalArgumentException: Offset deletion result for partition "
        f'"{place[0]}-{place[1]}" was not included in the response'
    )
    return told.failed.get(group) or told.found[group].get(place, left_out)


def _say_how_it_went(group: str, failure: Failure | None) -> None:
    if failure is None:
        print(f"Request succeeded for deleting offsets from group {group}.")
    elif failure.code in _OF_THE_GROUP:
        print_error(error_message(failure))
    elif failure.code in _OF_A_PARTITION:
        print_error("Encountered some partition-level error, see the follow-up details.")
    else:
        print_error(f"Encountered some unknown error: {failure.name or failure.message}")


def _print_table(outcome: Outcome) -> None:
    widths = (width_of(topic for topic, _ in outcome), *_WIDTHS)
    print("\n" + row(("TOPIC", "PARTITION", "STATUS"), widths), end="")
    for topic, partition in sorted(in_order(outcome), key=lambda place: by_name(f"{place[0]}{place[1]}")):
        number = MISSING if partition < 0 else str(partition)
        print("\n" + row((topic, number, _status(outcome[topic, partition])), widths), end="")
    print()


def _status(failure: Failure | None) -> str:
    return "Successful" if failure is None else f"Error: {exception_text(failure)}"
