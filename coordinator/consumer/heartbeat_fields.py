"""The fields of a ConsumerGroupHeartbeat: all fields when the member joins or its last heartbeat may be lost,
otherwise the changed ones.

Source: KIP-848 "ConsumerGroupHeartbeat"; ConsumerHeartbeatRequestManager.HeartbeatState of kafka-clients 4.3.1.
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.consumer.assignments import Assignments
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.engine.records import ClientAssignor


class _SentFields(NamedTuple):
    """The fields that the coordinator knows if the last heartbeat has arrived."""

    topics: tuple[str, ...]
    regex: str | None
    client_assignors: tuple[ClientAssignor, ...] | None
    owned: int


class HeartbeatFields:
    """The heartbeats of one member, in order."""

    __slots__ = (
        "_assignor",
        "_group",
        "_instance",
        "_member",
        "_plain",
        "_rack",
        "_sent",
        "_takes_regex_back",
        "_timeout_ms",
    )

    def __init__(
        self,
        group: str,
        member: str,
        instance: str | None,
        rack: str | None,
        rebalance_timeout_ms: int,
        assignor: str | None,
        *,
        clears_regex: bool,
    ) -> None:
        """`clears_regex`: see `Behavior`."""
        self._group, self._member, self._instance, self._rack = group, member, instance, rack
        self._timeout_ms, self._assignor = rebalance_timeout_ms, assignor
        self._takes_regex_back = clears_regex
        self._sent: _SentFields | None = None
        self._plain: ConsumerGroupHeartbeat | None = None

    def forget(self) -> None:
        """The last heartbeat failed: the next one reports everything."""
        self._sent = None

    def plain(self, epoch: int) -> ConsumerGroupHeartbeat:
        """A heartbeat without changes, as most are. Returns the same object while the epoch stays."""
        if self._plain is None or self._plain.epoch != epoch:
            self._plain = ConsumerGroupHeartbeat(
                group=self._group, member=self._member, epoch=epoch, instance=self._instance
            )
        return self._plain

    def next(
        self,
        epoch: int,
        topics: tuple[str, ...],
        regex: str | None,
        client_assignors: tuple[ClientAssignor, ...] | None,
        assignments: Assignments,
        *,
        joins: bool,
    ) -> ConsumerGroupHeartbeat:
        """:param regex: None if the member subscribes to topics by name"""
        before, now = self._sent, _SentFields(topics, regex, client_assignors, assignments.version)
        self._sent = now
        if before == now and not joins:
            return self.plain(epoch)
        whole = joins or before is None
        regex_said = None if before is None else before.regex
        if regex != regex_said or (whole and self._takes_regex_back):
            regex_now: str | None = regex or ""
        else:
            regex_now = regex if joins else None
        return ConsumerGroupHeartbeat(
            group=self._group,
            member=self._member,
            epoch=epoch,
            instance=self._instance,
            rack=self._rack if joins else None,
            rebalance_timeout_ms=self._timeout_ms if whole else -1,
            topics=topics if before is None or joins or topics != before.topics else None,
            regex=regex_now,
            assignor=self._assignor if whole else None,
            owned=(assignments.owned or {}) if before is None or joins or now.owned != before.owned else None,
            client_assignors=client_assignors
            if before is None or joins or client_assignors != before.client_assignors
            else None,
        )
