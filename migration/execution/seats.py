"""Who has which place in the group: the members of a plan, followed through restarts by what they share."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from migration.gate.observation import successors_of
from migration.model import PlannedMember


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatChanges:
    """Seats are called by the ids that their members had when the plan was made."""

    returned: Mapping[str, PlannedMember]  # The new member of each seat that another process has taken
    absent: tuple[str, ...]
    unexpected: tuple[PlannedMember, ...]  # Members that have no seat, and whose coming no absence explains


class Seats:
    """The seats of a group, each with its member as it was last seen."""

    def __init__(self, members: Iterable[PlannedMember]) -> None:
        self._latest = {member.id: member for member in members}
        self._known = set(self._latest)  # All ids that a member of a seat has had
        self._present: frozenset[str] = frozenset()

    def __getitem__(self, seat: str) -> PlannedMember:
        return self._latest[seat]

    def __iter__(self) -> Iterator[str]:
        return iter(self._latest)

    def __contains__(self, seat: str) -> bool:
        return seat in self._latest

    def is_present(self, seat: str) -> bool:
        return self._latest[seat].id in self._present

    def update(self, members: Sequence[PlannedMember], being_restarted: Collection[str] = ()) -> SeatChanges:
        """Take the members of the group as they are now, without temporary ones. A member that is `being_restarted` can
        return before its former id has left: the session of a process that was killed has not expired."""
        self._present = frozenset(member.id for member in members)
        new = [member for member in members if member.id not in self._known]
        seat_of = {member.id: seat for seat, member in self._latest.items()}
        gone = [member for member in self._latest.values() if member.id not in self._present]
        successors = successors_of(gone, new)
        matched = {member.id for member in successors.values()}
        remaining = [member for member in new if member.id not in matched]
        lingering = [self._latest[seat] for seat in being_restarted if self.is_present(seat)]
        successors |= successors_of(lingering, remaining, by_likeness=True)
        returned = {
            (seat := seat_of[former]): replace(member, library=self._latest[seat].library)
            for former, member in successors.items()
        }
        self._latest |= returned
        self._known |= {member.id for member in returned.values()}
        return SeatChanges(
            returned=returned,
            absent=tuple(seat for seat, member in self._latest.items() if member.id not in self._present),
            unexpected=tuple(member for member in members if member.id not in self._known),
        )
