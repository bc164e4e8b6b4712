"""Where a group is when an execution stops, in sentences."""

from collections.abc import Callable, Collection, Iterator

from groups.counts import counted
from groups.model import Group
from migration.bridge import BRIDGE
from migration.execution.events import Place
from migration.execution.rounds import PlanRounds
from migration.execution.seats import Seats
from migration.gate.observation import name_all


def standing(
    rounds: PlanRounds,
    place: Place,
    group: Group | None,
    seats: Seats,
    is_done: Callable[[Place, str, Group | None], bool],
) -> Iterator[str]:
    """`group`: as it was last seen; `is_done`: whether a member is as a round leaves it."""
    total = len(list(seats))
    present = [seat for seat in seats if seats.is_present(seat)]
    if group is None:
        yield "The group does not exist."
    else:
        protocol = f" ({group.protocol})" if group.protocol else ""
        members = f"{len(present)} of its {counted(total, 'member')}"
        yield f"The group is {group.type.value}{protocol}, {group.state.value}, with {members}."
    absent = [seat for seat in seats if not seats.is_present(seat)]
    stopped = [seat for seat in absent if seat in rounds.away(place) and not rounds.is_rollback]
    if missing := [seat for seat in absent if seat not in stopped]:
        yield f"Not in the group: {_names(seats, missing)}."
    if stopped:
        yield f"Stopped by the plan: {_names(seats, stopped)}."
    if group is not None and any(member.client.id == BRIDGE for member in group.members):
        yield f"{BRIDGE} is still a member."
    if not place[0]:
        return
    of_step = {
        seat: is_done(other, seat, group)
        for other in rounds.of_step(place[0])
        for seat in rounds.members(other)
        if seat in seats
    }
    early = [seat for seat, done in of_step.items() if done]
    late = [seat for seat, done in of_step.items() if not done]
    where = f"Step {place[0]}{' of the rollback' if rounds.is_rollback else ''}"
    if early:
        yield f"{where}, as planned: {_names(seats, early)}."
    if late:
        yield f"{where}, not yet as planned: {_names(seats, late)}."


def _names(seats: Seats, members: Collection[str]) -> str:
    return name_all([seats[seat] for seat in members])
