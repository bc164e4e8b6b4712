"""The simulated bridge, which decides as `kohort bridge` does, but also joins a young group without user data."""

from random import Random
from uuid import UUID

from coordinator.simulation.scenario import Close, MemberScript, Restart
from groups.model import GroupType
from migration.bridge import BridgeProgress, BridgeStep, MemberRestart, Move, comes_first, unsettled
from migration.model import MemberStart, TemporaryMember
from migration.rehearsal.simulated_members import NEAREST, started
from migration.rehearsal.simulation import Simulation

OBSERVE_MS = 500
CONFIG = {"session.timeout.ms": "10000", "heartbeat.interval.ms": "500"}
"""The client settings of `kohort bridge`."""
MOST_IDS = 2_000


class SimulatedBridge:
    """The simulated bridge. Its name in the world is its client id."""

    def __init__(self, world: Simulation, temporary: TemporaryMember, start: MemberStart, seed: int) -> None:
        self._simulation, self._name = world, temporary.id
        self._script = started(MemberScript(library=NEAREST, topics=temporary.topics, config=CONFIG), start)
        self._ids = Random(f"{seed} {temporary.id}")  # noqa: S311
        self._crossing = BridgeProgress()
        self._step = BridgeStep(move=Move.REJOIN, why="the bridge joins")
        self._id: str | None = None  # Its member id; None while it is joining

    @property
    def asks(self) -> MemberRestart | None:
        """The first member that the bridge asks the operator to restart; None if it asks for no restart."""
        return self._step.restart[0] if self._step.restart else None

    def enter(self) -> None:
        self._observe()

    def leave(self) -> None:
        self._take(BridgeStep(move=Move.LEAVE, why="it is stopped"))

    def _observe(self) -> None:
        if self._step.move in (Move.LEAVE, Move.CONVERTED):
            return
        if self._simulation.answers:
            self._take(self._next() or self._step)
        schedule = self._simulation.world.schedule
        schedule.at(schedule.now_ms + OBSERVE_MS, self._observe)

    def _next(self) -> BridgeStep | None:
        process = self._simulation.world.processes.get(self._name)
        if process is None or not process.is_running:
            return self._join()
        if process.lost_requests:
            return BridgeStep(move=Move.LEAVE, why="its connection was lost")
        if not process.member.is_settled or (self._step.move is Move.REJOIN and self._id is not None):
            return None
        if self._id not in (None, process.member.member_id):
            return BridgeStep(move=Move.LEAVE, why="the coordinator no longer knows the bridge")
        self._id, now_ms = process.member.member_id, self._simulation.world.schedule.now_ms
        return self._crossing.next_step(self._simulation.group(), self._id, now_ms)

    def _join(self) -> BridgeStep | None:
        """Once the group has settled, start the bridge's process under an id that comes first."""
        group = self._simulation.group()
        if group is None or unsettled(group) is not None:
            return None
        if group.type is not GroupType.CLASSIC:
            return BridgeStep(move=Move.LEAVE, why=f"it is a group of type {group.type.value}")
        for _ in range(MOST_IDS):
            drawn = f"{self._name}-{UUID(int=self._ids.getrandbits(128), version=4)}"
            if comes_first(group, drawn):
                self._id = None
                self._simulation.world.prescribe(self._name, drawn)
                self._simulation.world.play(Restart(at=0, member=self._name, script=self._script))
                return None
        why = f"none of {MOST_IDS} ids comes first in the order of succession"
        return BridgeStep(move=Move.LEAVE, why=why)

    def _take(self, step: BridgeStep) -> None:
        if step == self._step:
            return
        self._step = step
        world = self._simulation.world
        world.story.add(self._name, f"{step.move.value}: {step.why}")
        if step.move in (Move.REJOIN, Move.LEAVE, Move.CONVERTED):
            world.play(Close(at=0, member=self._name))
