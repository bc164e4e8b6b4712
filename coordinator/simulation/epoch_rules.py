"""The order of epochs and generations in the coordinator's records (I3)."""

from __future__ import annotations

from typing import Any

from coordinator.engine.calls import Request
from coordinator.engine.consumer.heartbeat import ConsumerGroupHeartbeat
from coordinator.simulation.facts import Facts


class EpochRules:
    """I3 for the coordinator: member epoch ≤ assignment epoch ≤ group epoch; no epoch and no generation decreases.
    They start over if the other protocol reuses an empty group.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.generation = 0
        """The classic group's last generation that was written."""
        self.members: dict[str, int] = {}
        """The epoch of each member of the consumer group."""
        self._group = self._target = 0
        self._timely: object = None
        """The last heartbeat at its member's epoch that advanced the member."""

    def upgraded(self) -> None:
        """A consumer group was created."""
        self._group = self._target = 0

    def deleted(self) -> None:
        """The consumer group was deleted."""
        self.generation = self._group = self._target = 0
        self.members.clear()

    def group_written(self, epoch: int) -> None:
        self._group = self._grown("group epoch", self._group, epoch)

    def target_written(self, epoch: int) -> None:
        self._target = self._grown("assignment epoch", self._target, epoch)

    def generation_written(self, generation: int, *, starts_over: bool) -> None:
        self.generation = self._grown("generation", 0 if starts_over else self.generation, generation)

    def member_written(self, member: str, epoch: int) -> None:
        if epoch <= 0:
            return
        who = self._facts.name_of(member)
        if epoch > max(self._target, 1):  # a group starts with an empty target of epoch 1
            self._facts.broken("I3", f"{who} is at epoch {epoch}, but the target at {self._target}")
        self._grown(f"epoch of {who}", self.members.get(member, 0), epoch)
        self.members[member] = epoch

    def batch_written(self) -> None:
        """All records of a batch were written."""
        if self._target > self._group:
            self._facts.broken("I3", f"assignment epoch {self._target} is above group epoch {self._group}")

    def moves(self, request: Request[Any] | None) -> None:
        """Records of this request are about to be written."""
        if type(request) is ConsumerGroupHeartbeat and request.epoch == self.members.get(request.member, 0):
            self._timely = request

    def is_over(self, request: ConsumerGroupHeartbeat) -> bool:
        """Whether the heartbeat has an epoch that its member had already left."""
        return 0 < request.epoch < self.members.get(request.member, 0) and request is not self._timely

    def _grown(self, what: str, before: int, now: int) -> int:
        if now < before:
            self._facts.broken("I3", f"{what} decreases from {before} to {now}")
        return now
