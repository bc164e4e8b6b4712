"""Changing a live cluster: offsets, groups and their settings.

Settings are set through the AdminClient. Offsets are committed, and offsets and groups deleted, over the wire client:
confluent-kafka's AdminClient cannot delete offsets, and commits metadata with a NUL behind them (2.16.1). Where only
the AdminClient can log in it deletes groups and commits offsets too, without metadata. What failed is told partition by
partition, or group by group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cli.errors import UsageError
from cli.sources.live import LiveSource
from cli.sources.permissions import COMMITTING, DELETING_GROUPS, DELETING_OFFSETS, Needs, worded
from cli.sources.source import Source
from groups.offsets.model import OffsetChange, Place
from wire.client.answers import Answers, Failure

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, KafkaException


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """Why a change was not made, or may not have been."""

    message: str
    refused: bool
    """True: a broker said no. False: no answer came, and whether the change was made is not known."""


def writer_of(source: Source) -> ClusterWriter:
    """The writer of a live cluster; UsageError for a source that can only be read."""
    if isinstance(source, LiveSource):
        return ClusterWriter(source)
    raise UsageError(
        f"{source.name} is only read, never changed, so --execute makes no sense there; "
        "name a live cluster (--bootstrap-server)"
    )


class ClusterWriter:
    """Changes of one cluster. Every method takes at most the source's timeout."""

    def __init__(self, source: LiveSource) -> None:
        self._source = source

    def commit(self, changes: Mapping[str, Sequence[OffsetChange]]) -> dict[str, dict[Place, Failed | None]]:
        """Commit every group's new offsets, one request per group, all groups side by side.

        The requests name neither member nor generation: the coordinator takes them of a group without members only.
        """
        client = self._source.client
        if client is None:
            return self._commit_as_admin(changes)
        from wire.client.offsets import NewOffset

        offsets = {
            group: {
                change.place: NewOffset(
                    offset=change.after,
                    leader_epoch=-1 if change.leader_epoch is None else change.leader_epoch,
                    metadata=change.metadata,
                )
                for change in wanted
            }
            for group, wanted in changes.items()
        }
        answers = client.commit_offsets(offsets)
        return _told({group: list(places) for group, places in offsets.items()}, answers, COMMITTING)

    def _commit_as_admin(
        self, changes: Mapping[str, Sequence[OffsetChange]]
    ) -> dict[str, dict[Place, Failed | None]]:
        """Without metadata, which this way of reading does not know either."""
        from confluent_kafka import TopicPartition

        offsets = {
            group: [
                TopicPartition(
                    change.topic,
                    change.partition,
                    change.after,
                    leader_epoch=-1 if change.leader_epoch is None else change.leader_epoch,
                )
                for change in wanted
            ]
            for group, wanted in changes.items()
        }
        found, failed = self._source.admin.commit(offsets)
        return {
            group: dict.fromkeys((change.place for change in wanted), failed_of(failed[group], COMMITTING))
            if group in failed
            else _by_place(wanted, found[group])
            for group, wanted in changes.items()
        }

    def delete_offsets(self, places: Mapping[str, Sequence[Place]]) -> dict[str, dict[Place, Failed | None]]:
        """Delete committed offsets by group, one request per group.

        :raises UsageError: the wire client cannot log in to this cluster
        """
        client = self._source.client
        if client is None:
            raise UsageError(
                f"offsets cannot be deleted on {self._source.name}: that needs a login that librdkafka alone "
                f"knows (sasl.mechanism={self._source.settings.sasl_mechanism}); kafka-consumer-groups.sh can"
            )
        answers = client.delete_offsets(places)
        return _told(places, answers, DELETING_OFFSETS)

    def delete_groups(self, groups: Sequence[str]) -> dict[str, Failed | None]:
        """Delete groups of any type, and what they have committed."""
        client = self._source.client
        if client is None:
            refused = self._source.admin.delete_groups(groups)
            return {
                group: failed_of(refused[group], DELETING_GROUPS) if group in refused else None
                for group in groups
            }
        failed = client.delete_groups(groups).failed
        return {group: _wire_failed(failed.get(group), DELETING_GROUPS) for group in groups}


def _told(
    places: Mapping[str, Sequence[Place]],
    answers: Answers[str, dict[Place, Failure | None]],
    needs: Needs,
) -> dict[str, dict[Place, Failed | None]]:
    """What the wire client was told of every place."""
    told: dict[str, dict[Place, Failed | None]] = {}
    left_out = Failure(message="the coordinator left it out of its answer")
    for group, wanted in places.items():
        whole = answers.failed.get(group)
        parts = answers.found.get(group, {})
        told[group] = {place: _wire_failed(whole or parts.get(place, left_out), needs) for place in wanted}
    return told


def _by_place(wanted: Iterable[OffsetChange], told: Any) -> dict[Place, Failed | None]:
    found = {(each.topic, each.partition): each.error for each in told.topic_partitions}
    left_out = Failed(message="the coordinator left it out of its answer", refused=False)
    return {
        change.place: _failed(found[change.place], COMMITTING) if change.place in found else left_out
        for change in wanted
    }


def failed_of(error: KafkaException, needs: Needs) -> Failed:
    """What an exception of the AdminClient says, to a request that `needs` something."""
    failed = _failed(error.args[0], needs)
    return failed or Failed(message=str(error), refused=False)


def _wire_failed(failure: Failure | None, needs: Needs) -> Failed | None:
    """What the wire client says of one partition; a code is a broker's answer."""
    if failure is None:
        return None
    if failure.code is None:
        return Failed(message=f"{failure.message} {_UNKNOWN}", refused=False)
    hint = _HINTS.get(failure.name or "", "")
    message = worded(failure.name, failure.message, needs)
    return Failed(message=f"{message}{hint}", refused=not failure.retriable)


def _failed(error: KafkaError | None, needs: Needs) -> Failed | None:
    """What librdkafka says of one partition or group; its own codes are negative, the brokers' positive."""
    if error is None:
        return None
    if error.code() < 0:
        return Failed(
            message=f"no answer in time ({error.name()}). {_UNKNOWN}",
            refused=False,
        )
    hint = _HINTS.get(error.name(), "")
    message = worded(error.name(), f"{error.str().removeprefix('Broker: ')} ({error.name()})", needs)
    return Failed(message=f"{message}{hint}", refused=True)


_UNKNOWN = "Whether the change was made is not known: look before you try again."
_JOINED = ": a member has joined since the change was shown; stop it, then try again"
_HINTS = {
    "UNKNOWN_MEMBER_ID": _JOINED,
    "REBALANCE_IN_PROGRESS": _JOINED,
    "ILLEGAL_GENERATION": _JOINED,
    "NON_EMPTY_GROUP": _JOINED,
    "GROUP_SUBSCRIBED_TO_TOPIC": ": a member subscribes to the topic; stop it, then try again",
}
