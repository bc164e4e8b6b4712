"""Who has which place in the group: the members of a plan, followed through restarts by what they share."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from migration.gate.observation import ANY_MEMBER, SAME_CLIENT, SAME_PLACE, name_all, successors_of
from migration.model import PlannedMember


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatChanges:
    """Seats are called by the ids that their members had when the plan was made."""

    returned: Mapping[str, PlannedMember]  # The new member of each seat that another process has taken
    absent: tuple[str, ...]
    unexpected: tuple[PlannedMember, ...]  # Members that have no seat, and whose coming no absence explains
    doubled: frozenset[str]  # Seats whose former member is there too


class Seats:
    """The seats of a group, each with its member as it was last seen."""

    def __init__(
        self,
        members: Iterable[PlannedMember],
        latest: Mapping[str, PlannedMember] | None = None,
        former: Mapping[str, str] | None = None,
    ) -> None:
        """`members`: those of the plan; `latest`: as a former execution saw some of them last; `former`: seats by ids
        that their members have had: one whose process was killed may still be shown."""
        self._planned = {member.id: member for member in members}
        self._latest = {**self._planned, **(latest or {})}
        self._seat_of = {**(former or {}), **{seat: seat for seat in self._planned}}
        self._seat_of |= {member.id: seat for seat, member in self._latest.items()}
        """The seat of each id that its members have had."""
        self._present: frozenset[str] = frozenset()

    def __getitem__(self, seat: str) -> PlannedMember:
        return self._latest[seat]

    def __iter__(self) -> Iterator[str]:
        return iter(self._latest)

    def __contains__(self, seat: str) -> bool:
        return seat in self._latest

    def seat_of(self, member: str) -> str | None:
        """The seat of a member by any id that it has had; None: it has none, as the bridge."""
        return self._seat_of.get(member)

    @property
    def absent(self) -> frozenset[str]:
        return frozenset(seat for seat in self if not self.is_present(seat))

    def names(self, seats: Iterable[str]) -> str:
        """Who has these seats, for people."""
        return name_all([self[seat] for seat in seats])

    def is_present(self, seat: str) -> bool:
        return self._latest[seat].id in self._present

    def update(self, members: Sequence[PlannedMember], being_restarted: Collection[str] = ()) -> SeatChanges:
        """Take the members of the group as they are now, without temporary ones. One whose process was killed is a
        member until its session expires: it can return before its former id has left."""
        self._present = frozenset(member.id for member in members)
        for member in members:
            seat = self._seat_of.get(member.id)
            if seat is not None and not self.is_present(seat):
                # After an outage, a resumed execution cannot know which of two ids is the newer one: one remains
                self._latest[seat] = replace(member, library=self._latest[seat].library)
        new = [member for member in members if member.id not in self._seat_of]
        gone = [member for member in self._latest.values() if member.id not in self._present]
        restarted = [self._latest[seat] for seat in being_restarted if self.is_present(seat)]
        others = [member for member in self._latest.values() if member.id in self._present]
        successors = successors_of([*gone, *restarted, *others], new, SAME_PLACE)
        for candidates, likeness in (([*gone, *restarted], SAME_CLIENT), (gone, ANY_MEMBER)):
            waiting = [member for member in candidates if member.id not in successors]
            successors |= successors_of(waiting, _others(new, successors), likeness)
        displaced = self._displaced(_others(new, successors))
        returned = {
            (seat := self._seat_of[former]): replace(member, library=self._latest[seat].library)
            for former, member in (successors | displaced).items()
        }
        for former in displaced:
            del self._seat_of[former]
        self._latest |= returned
        self._seat_of |= {member.id: seat for seat, member in returned.items()}
        seated = {member.id: self._seat_of[member.id] for member in members if member.id in self._seat_of}
        return SeatChanges(
            returned=returned,
            absent=tuple(seat for seat, member in self._latest.items() if member.id not in self._present),
            unexpected=tuple(member for member in members if member.id not in self._seat_of),
            doubled=frozenset(seat for id_, seat in seated.items() if self._latest[seat].id != id_),
        )

    def _displaced(self, members: Sequence[PlannedMember]) -> dict[str, PlannedMember]:
        """The right members of seats that others took before them, who share nothing with these; by the others' ids."""
        if not members:
            return {}
        planned = [
            member
            for seat, member in self._planned.items()
            if self.is_present(seat)
            and self._latest[seat].id != seat
            and not successors_of([member], [self._latest[seat]], SAME_CLIENT)
        ]
        successors = successors_of(planned, members, SAME_CLIENT)
        return {self._latest[seat].id: member for seat, member in successors.items()}


def _others(members: Sequence[PlannedMember], taken: Mapping[str, PlannedMember]) -> list[PlannedMember]:
    ids = {member.id for member in taken.values()}
    return [member for member in members if member.id not in ids]
