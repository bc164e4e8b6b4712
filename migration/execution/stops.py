"""What stops an execution: rules with names, each with what it means for the group and what to do next."""

from dataclasses import dataclass
from enum import Enum

from migration.model import SESSION_S


class StopRule(Enum):
    PLAN = "plan"  # The group is not, or no longer, the one that the plan was made for
    OFF_PLAN = "off-plan"
    GATE = "gate"
    MEMBER_MISSING = "member-missing"
    MEMBER_LOST = "member-lost"
    UNEXPECTED_MEMBER = "unexpected-member"
    OUTSIDE_RESTART = "outside-restart"
    WRONG_MEMBER = "wrong-member"
    WRONG_CONFIGURATION = "wrong-configuration"
    CHANGED = "changed"
    LAG = "lag"
    WITHOUT_OWNER = "without-owner"
    DIAGNOSE = "diagnose"
    UNREADABLE = "unreadable"
    REFUSED = "refused"
    HOOK = "hook"
    HOOK_TIMEOUT = "hook-timeout"
    BRIDGE = "bridge"
    LOG = "log"  # What happens cannot be written down
    BACK = "back"  # The rollback was ordered
    INTERRUPTED = "interrupted"
    WINDOW = "window"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionStop:
    rule: StopRule
    message: str
    at_s: float

    @property
    def remedy(self) -> str:
        return REMEDIES[self.rule]

    @property
    def allows_rollback(self) -> bool:
        """Whether the members can be restarted safely: the group can be read, and nothing else is changing it."""
        return self.rule not in _NOT_BACK


_NOT_BACK = {
    *(StopRule.PLAN, StopRule.UNREADABLE, StopRule.REFUSED, StopRule.INTERRUPTED),
    *(StopRule.WINDOW, StopRule.LOG, StopRule.OUTSIDE_RESTART),
}

REMEDIES = {
    StopRule.PLAN: "Make a new plan of the group as it is now: kohort plan.",
    StopRule.OFF_PLAN: "Return to the step that the message names, then run this command again.",
    StopRule.GATE: "The reasons name the member or setting. Correct it, then run this command again.",
    StopRule.MEMBER_MISSING: "Read the log of its process: it did not start, or could not join. Start it with the "
    "lines of this step, then run this command again.",
    StopRule.MEMBER_LOST: "It was not its turn: it crashed, or lost its session. Start it again as it was, then run "
    "this command again.",
    StopRule.UNEXPECTED_MEMBER: "Stop it, or make a new plan that includes it. Do not scale the group meanwhile.",
    StopRule.OUTSIDE_RESTART: "Something else restarts members: a deployment, a supervisor or a person. Wait until it "
    "has ended, make sure that it starts members with the lines of this step, then run this command again.",
    StopRule.WRONG_MEMBER: "The restart command acted on another member than the one that it was given. Correct it, "
    "then run this command again.",
    StopRule.WRONG_CONFIGURATION: "The restart command did not give the process the lines of this step. Correct it, "
    "then run this command again: the member is restarted again.",
    StopRule.CHANGED: "What the group reads has changed since the plan was made. Make a new plan, or accept the change "
    "with --accept-drift.",
    StopRule.LAG: "Wait until the group has caught up. Restart fewer members at a time, or allow more with "
    "--tolerance.",
    StopRule.WITHOUT_OWNER: "Restarts take longer than the plan assumes. Make a plan with the real time "
    "(--bounce-seconds), or allow more with --tolerance.",
    StopRule.DIAGNOSE: "Resolve the error first: kohort diagnose. Then run this command again.",
    StopRule.UNREADABLE: "Nothing is known of the group. When the brokers answer again, run this command again.",
    StopRule.REFUSED: "Give the login the right that the message names, then run this command again.",
    StopRule.HOOK: "The end of its output is in the log of the run. Correct the command, then run this one again.",
    StopRule.HOOK_TIMEOUT: "It was ended after --restart-timeout. Look at the process, then run this command again.",
    StopRule.BRIDGE: "Its last lines are in the log of the run: kohort bridge. Then run this command again.",
    StopRule.LOG: "Without it, a run that is killed cannot continue. Make room for it, or make it writable, then run "
    "this command again.",
    StopRule.BACK: "Run this command again to continue the rollback.",
    StopRule.INTERRUPTED: "Run this command again to continue.",
    StopRule.WINDOW: "It continues by itself when the window opens. If the command has ended, run it again.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionLimits:
    """How long to wait, and how much it may cost."""

    gate_s: float = 300.0  # For a gate, after the last hook of its round
    return_s: float = 120.0
    """For a member, after its hook; and for one that has left although it was not its turn."""
    unreadable_s: float = 120.0  # While the group cannot be read
    watch_s: float = SESSION_S  # After the last gate, for a member that is no longer running
    tolerance: float = 2.0  # A step may cost this many times what the worst rehearsal did
    accept_drift: bool = False  # Whether topics may have changed
