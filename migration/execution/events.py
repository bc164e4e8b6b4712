"""What an execution of a plan is given, and what it orders and reports. Times are seconds of a monotonic clock."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from groups.model import Cluster, Group
from migration.bridge import MemberRestart
from migration.execution.settings import SettingsChange
from migration.execution.stops import ExecutionStop
from migration.gate.observation import GateResult
from migration.model import PlannedMember, RoundAction

Place: TypeAlias = tuple[int, int]
"""A step of the plan and a round of it, both from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSighting:
    """The group at a moment, or why it could not be read."""

    at_s: float
    group: Group | None = None
    """With its leader where a gate needs it; None if it does not exist, or was not read."""
    cluster: Cluster
    partitions: Mapping[str, int] = field(default_factory=dict)  # As in `GateObservation`
    lag: int | None = None  # Records; None: not known
    written: int | None = None  # The sum of the end offsets of its partitions; None: not known
    errors: Mapping[str, str] = field(default_factory=dict)
    """Messages of the errors that `kohort diagnose` finds, by rule and member."""
    problem: str = ""  # Why the group was not read; then nothing else is known
    is_refused: bool = False  # Whether the broker refuses: trying again does not help
    asks: MemberRestart | None = None  # What the bridge asks for
    bridge_problem: str = ""  # Why the bridge has ended, unless it had led until the group was converted


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    at_s: float
    member: str  # As in `RunHook.member`
    problem: str = ""  # Empty if its exit status was 0
    timed_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHook:
    """Have the operator's command act on one member."""

    place: Place
    members: tuple[str, ...]
    """The ids that they had when the plan was made; several if they share a process."""
    ids: tuple[str, ...]  # Their ids in the group, as last seen
    seat: PlannedMember  # The first of them, as it was last seen in the group
    action: RoundAction
    change: SettingsChange  # Against its configuration before the migration; unchanged if it is only stopped
    is_rollback: bool = False
    is_of_round: bool = True  # False: the bridge has asked for it, and the members are left as they are

    @property
    def member(self) -> str:
        return self.members[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartBridge:
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class StopBridge:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class EndHooks:
    """End the commands that are running, at once."""


Order: TypeAlias = RunHook | StartBridge | StopBridge | EndHooks


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundBegan:
    at_s: float
    place: Place
    members: tuple[str, ...]  # By name; those that are still to be restarted
    is_rollback: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChecked:
    """A gate, whenever what it shows differs from the time before."""

    at_s: float
    place: Place
    result: GateResult


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberReturned:
    at_s: float
    place: Place
    member: str
    seat: PlannedMember


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRejoined:
    """A member has a new id, although no hook was to restart it: it lost its session, or crashed."""

    at_s: float
    place: Place
    member: str
    former: str  # Its id before
    seat: PlannedMember


@dataclass(frozen=True, slots=True, kw_only=True)
class StepEnded:
    """The gate of a step has opened; 0: the one before the first step."""

    at_s: float
    step: int
    members: tuple[PlannedMember, ...]
    epoch: int | None
    is_rollback: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackBegan:
    """What an execution must be given that is started again during its rollback."""

    at_s: float
    stop: ExecutionStop
    begun: Mapping[int, tuple[str, ...]]  # By step of the plan, the members on which a hook began
    absent: tuple[str, ...]  # Members that were not in the group
    members: tuple[PlannedMember, ...]  # Those that were


Happening: TypeAlias = RoundBegan | GateChecked | MemberReturned | MemberRejoined | StepEnded | RollbackBegan
