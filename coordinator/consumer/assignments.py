"""What the coordinator assigns to a member of the consumer protocol, and what of it the member has carried out.

Topics go by id here, as the protocol names them; a topic that the client's metadata do not show yet waits.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from uuid import UUID

from coordinator.consumer.outputs import Partitions, TopicPartition
from coordinator.engine.records import TopicPartitions
from coordinator.engine.topics import TopicImage


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """A step from what a member owns to what it is to own, as far as its topics are known."""

    number: int
    """Which assignment it is of."""
    by_id: TopicPartitions
    assigned: Partitions
    added: Partitions
    revoked: Partitions


class Assignments:
    """The target that was received last, and the assignment that was carried out last; None where there is none."""

    __slots__ = ("_names", "_number", "_target", "_target_number", "owned", "version")

    def __init__(self) -> None:
        self.owned: TopicPartitions | None = None
        """The assignment that was carried out, as heartbeats report it."""
        self.version = 0
        """Grows with every change of `owned`, also by an assignment of the same partitions: that is reported anew."""
        self._number = self._target_number = 0
        self._target: TopicPartitions | None = None
        self._names: dict[UUID, str] = {}

    def receive(self, assignment: TopicPartitions) -> None:
        """Each assignment that differs from the one before has a number of its own."""
        target = {topic: tuple(sorted(partitions)) for topic, partitions in assignment.items()}
        if target != self._target:
            self._target = target
            self._target_number += 1

    def begin_with_nothing(self) -> None:
        """The member owns nothing yet, and a target of nothing is carried out."""
        self.owned, self._number = {}, self._target_number

    @property
    def is_reconciled(self) -> bool:
        return self._number == self._target_number and self.owned == self._target

    def next_step(
        self, image: TopicImage, owned: Partitions, heeds: Container[str] | None = None
    ) -> Reconciliation | None:
        """What to do for the target; None where everything that can be done is done and reported.

        A topic whose name was known once keeps it: one that was deleted is gone from the metadata before it is gone
        from the target. While a topic is not known, Java reports what it has as often as heartbeats are answered; here
        that waits for the topic.

        :param heeds: topics of which there are metadata, by name; None: all
        """
        if self._target is None:
            return None
        names = self._names
        by_id: dict[UUID, tuple[int, ...]] = {}
        for topic, partitions in self._target.items():
            name = image.names.get(topic)
            if name is not None and (heeds is None or name in heeds):
                names[topic] = name
            if topic in names:
                by_id[topic] = partitions
        if self._number == self._target_number and by_id == self.owned:
            return None
        assigned = frozenset(
            TopicPartition(names[topic], partition)
            for topic, partitions in by_id.items()
            for partition in partitions
        )
        return Reconciliation(
            number=self._target_number,
            by_id=by_id,
            assigned=assigned,
            added=assigned - owned,
            revoked=owned - assigned,
        )

    def is_owned(self, step: Reconciliation) -> bool:
        """Whether the step leads to what the member has already, and only has to be reported."""
        return self.owned is not None and step.by_id == self.owned

    def complete(self, step: Reconciliation) -> None:
        self.owned, self._number = step.by_id, step.number
        self._names = {topic: name for topic, name in self._names.items() if topic in step.by_id}
        self.version += 1

    def give_up(self) -> None:
        """The member owns nothing any more."""
        self.owned = None
        self._number = 0

    def forget_target(self) -> None:
        """The member joins anew, which says everything."""
        self._target = None
        self._target_number = 0
        self._names = {}
