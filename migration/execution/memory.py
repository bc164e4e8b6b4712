"""What must be remembered of executions, so that another one can continue after them: a fold over their events."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from migration.execution.events import RollbackBegan
from migration.model import PlannedMember


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """What is known of an execution that ended before."""

    opened: Mapping[int, Sequence[PlannedMember]]
    """The members when the gate of each step opened; 0: the one before the first step."""
    hooks: Mapping[tuple[int, str], str] | None = None
    """The hooks that began, by step and member, with the member's id then (empty: not known); None if they are not
    known: then a new member id is a restart."""
    seats: Mapping[str, PlannedMember] = field(default_factory=dict)
    """The members that were restarted, as they were last seen, by the ids of the plan."""
    pending: Collection[str] | None = None
    """Members whose hook may yet have an effect, as that of an execution that was killed; None: all of them."""
    stopped: Collection[str] = ()  # Members whose last hook was to stop them
    rollback: RollbackBegan | None = None
    """If its rollback had begun, and not ended; `opened` and `hooks` are then of the steps of the rollback."""


class ExecutionMemory:
    """Members are called by the ids of the plan."""

    def __init__(self) -> None:
        self._seats: dict[str, PlannedMember] = {}
        self._forget()

    def _forget(self) -> None:
        self._hooks: dict[tuple[int, str], str] = {}
        self._pending: set[str] = set()
        self._stopped: frozenset[str] = frozenset()
        self._rollback: RollbackBegan | None = None
        self._opened_back: dict[int, Sequence[PlannedMember]] = {}

    def run_ended(self) -> None:
        """An execution has ended by itself: all that it began has had its effect."""
        self._pending.clear()

    def hook_began(self, step: int, members: Collection[str], ids: Sequence[str], *, stops: bool) -> None:
        """`ids`: those of the members in the group, in the same order; `stops`: whether they are not started again."""
        self._hooks |= {(step, member): id_ for member, id_ in zip(members, ids, strict=True)}
        self._pending |= {*members}
        self._stopped = (self._stopped - {*members}) | ({*members} if stops else set())

    def hook_failed(self, members: Iterable[str]) -> None:
        self._pending.difference_update(members)

    def returned(self, member: str, seat: PlannedMember) -> None:
        """The member has a new id."""
        self._seats[member] = seat
        self._pending.discard(member)

    def rollback_began(self, began: RollbackBegan) -> None:
        self._forget()
        self._rollback = began

    def step_undone(self, step: int, members: Sequence[PlannedMember]) -> None:
        """The gate of a step of the rollback has opened; `members`: those of the group then."""
        self._opened_back[step] = members

    def rolled_back(self) -> None:
        self._forget()

    def resumed(self, opened: Mapping[int, Sequence[PlannedMember]]) -> Resumed:
        """`opened`: the members when the gate of each step of the plan opened."""
        return Resumed(
            opened=self._opened_back if self._rollback is not None else opened,
            hooks=dict(self._hooks),
            seats=dict(self._seats),
            pending=frozenset(self._pending),
            stopped=self._stopped,
            rollback=self._rollback,
        )
