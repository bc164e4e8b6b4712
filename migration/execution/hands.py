"""The hooks of an execution: those that are running, those of the round that have ended, and all that ever began."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from migration.execution.events import RunHook


class Hands:
    """Members are called by the ids of the plan. Members of one process share a hook."""

    def __init__(self, began: Mapping[tuple[int, str], str] | None, processes: Mapping[str, str]) -> None:
        """`began`: the hooks of former executions, by step and member, with the member's id then; None: not known."""
        self._processes = processes
        self.is_known = began is not None
        self._began: dict[int, dict[str, str]] = {}
        for (step, member), id_ in (began or {}).items():
            self._began.setdefault(step, {})[member] = id_
        self.running: dict[str, RunHook] = {}
        self.ended: dict[str, float] = {}  # Members of the round whose hook has ended, and when
        self.since_s: float | None = None  # When the first of these began
        self.again: set[str] = set()
        """Members whose hook began in a former execution, which may have had any effect, or none."""
        self.rest: tuple[str, ...] = ()  # Members to be started when the first of their round runs as planned
        self.errand: str | None = None
        """The member that was stopped for the bridge, to be started when it has left."""

    def process(self, seat: str) -> str:
        return self._processes.get(seat, seat)

    def by_process(self, seats: Iterable[str]) -> tuple[tuple[str, ...], ...]:
        members: dict[str, list[str]] = {}
        for seat in seats:
            members.setdefault(self.process(seat), []).append(seat)
        return tuple(map(tuple, members.values()))

    def in_turn(self, seats: Iterable[str]) -> frozenset[str]:
        """Those of these members that are being restarted, with all members of their processes."""
        processes = {self.process(seat) for seat in (*self.running, *self.ended)}
        return frozenset(seat for seat in seats if self.process(seat) in processes)

    def began(self, step: int) -> Mapping[str, str] | None:
        """The members on which a hook began in this step, with their ids then; None: not known."""
        return self._began.get(step, {}) if self.is_known else None

    @property
    def by_step(self) -> Mapping[int, Collection[str]]:
        return self._began

    @property
    def hooks(self) -> tuple[RunHook, ...]:
        return tuple({hook.member: hook for hook in self.running.values()}.values())

    def begin(self, hook: RunHook, at_s: float) -> None:
        self.since_s = at_s if self.since_s is None else self.since_s
        self.running |= dict.fromkeys(hook.members, hook)
        self.ended = {seat: at_s for seat, at_s in self.ended.items() if seat not in hook.members}
        if hook.is_of_round:
            self._began.setdefault(hook.place[0], {}).update(zip(hook.members, hook.ids, strict=True))

    def end(self, member: str, at_s: float) -> RunHook:
        hook = self.running[member]
        for seat in hook.members:
            del self.running[seat]
            self.ended[seat] = at_s
        return hook

    def expect(self, seats: Sequence[str], at_s: float) -> None:
        """Give the members whose hook began in a former execution time to return."""
        self.again = set(seats)
        self.ended, self.since_s = dict.fromkeys(seats, at_s), at_s

    def end_round(self) -> None:
        self.ended, self.again, self.rest, self.since_s = {}, set(), (), None
