"""What goes wrong in a run of `kohort migrate`: the mistakes of `kohort rehearse --mistakes`, made by the command that
restarts a consumer, commands that fail, and processes that die; and the rules that may stop the run then."""

import threading
import time
from collections.abc import Collection, Mapping
from enum import Enum
from random import Random

from migration.execution.stops import StopRule
from migration.rehearsal.mistakes import Mistake
from tests.migration.end_to_end.supervisor import Act, Call, Config, Supervisor
from tests.migration.end_to_end.unattended import JOURNEYS

STRATEGY = "partition.assignment.strategy"
LONGEST_S = 5.0
"""How long after it began a command is killed, at most: it may have ended."""


class CommandTrouble(Enum):
    FAILS = "fails before it does anything"
    FAILS_STOPPED = "fails after it has stopped the process"
    FAILS_DONE = "fails although it has restarted the process"
    HANGS = "never ends"
    FORGETS = "does nothing, and succeeds"
    WRONG_MEMBER = "restarts another member"
    KILLED = "is killed"


class Death(Enum):
    MEMBER = "a member is killed"
    RESTARTED = "a member is killed, and its supervisor starts it again"
    BROKER = "the broker is killed, and started again"


Trouble = Mistake | CommandTrouble | Death

_GATED = {StopRule.WRONG_CONFIGURATION, StopRule.GATE, StopRule.OFF_PLAN, StopRule.MEMBER_MISSING}
RULES: Mapping[Trouble, Collection[StopRule | None]] = {
    Mistake.SKIPPED_BOUNCE: {*_GATED, StopRule.WITHOUT_OWNER, None},  # Of the last one it does no harm
    Mistake.REVERSED_LIST: {StopRule.OFF_PLAN, None},
    Mistake.TOO_EARLY: {*_GATED, StopRule.OUTSIDE_RESTART, StopRule.WITHOUT_OWNER, None},
    Mistake.OLD_MEMBER: {
        *_GATED,
        StopRule.OUTSIDE_RESTART,
        StopRule.WITHOUT_OWNER,
        None,
    },  # One that was not yet restarted is as it was
    Mistake.EARLY_SUCCESSOR: {None},
    Mistake.WRONG_JAR: _GATED,
    Mistake.DEPLOY: {StopRule.OUTSIDE_RESTART, StopRule.WITHOUT_OWNER, None},  # While all are started: None
    CommandTrouble.FAILS: {StopRule.HOOK},
    CommandTrouble.FAILS_STOPPED: {StopRule.HOOK},
    CommandTrouble.FAILS_DONE: {StopRule.HOOK},
    CommandTrouble.HANGS: {StopRule.HOOK_TIMEOUT},
    CommandTrouble.FORGETS: {StopRule.HOOK, StopRule.MEMBER_MISSING, StopRule.GATE},
    CommandTrouble.WRONG_MEMBER: {StopRule.WRONG_MEMBER, StopRule.HOOK, StopRule.MEMBER_MISSING},
    CommandTrouble.KILLED: {StopRule.HOOK, None},
    Death.MEMBER: {StopRule.MEMBER_LOST, StopRule.MEMBER_MISSING, StopRule.WITHOUT_OWNER, None},
    Death.RESTARTED: {StopRule.OUTSIDE_RESTART, StopRule.MEMBER_LOST, StopRule.WITHOUT_OWNER, None},
    Death.BROKER: {StopRule.BRIDGE, None},
}
"""The rules that may stop a run; None: it may finish."""
CALLS: Mapping[str, int] = {
    journey: 6 if journey.endswith(("two bounces", "stop and start")) else 3 for journey in JOURNEYS
}
"""How often the command is called, at least."""


def placed(trouble: Trouble, rng: Random) -> tuple[str, int]:
    """A journey in which it can happen, and the call of the command at which it does."""
    journeys: Collection[str] = JOURNEYS
    if trouble in (Mistake.SKIPPED_BOUNCE, Mistake.REVERSED_LIST):
        return "java two bounces", rng.randint(1, 3)
    if trouble is Mistake.EARLY_SUCCESSOR:
        journeys = [journey for journey in JOURNEYS if journey.endswith("static")]
    journey = rng.choice(list(journeys))
    # A stop has no configuration, and the first restart for the bridge changes none.
    first = {"stop and start": 4, "bridge": 2}.get(journey.partition(" ")[2], 1)
    return journey, rng.randint(first if trouble is Mistake.WRONG_JAR else 1, CALLS[journey])


def _other(supervisor: Supervisor, call: Call) -> str:
    return next(name for name in supervisor.by_name if name != call.name)


def _now(supervisor: Supervisor, name: str) -> Config:
    return dict(supervisor.by_name[name].config)


def _in_one_bounce(supervisor: Supervisor, call: Call) -> int:
    """The list of the second bounce."""
    last = call.config[STRATEGY].split(",")[0]
    supervisor.restart(call.name, {**call.config, STRATEGY: last}, call.number)
    return 0


def _reversed(supervisor: Supervisor, call: Call) -> int:
    names = call.config[STRATEGY].split(",")
    supervisor.restart(call.name, {**call.config, STRATEGY: ",".join(reversed(names))}, call.number)
    return 0


def _next_too(supervisor: Supervisor, call: Call) -> int:
    """The next member with the lines of this one, before this one is back."""
    other = _other(supervisor, call)
    thread = threading.Thread(target=supervisor.restart, args=(other, supervisor.for_other(call, other)))
    thread.start()
    status = supervisor.do(call)
    thread.join()
    return status


def _old_one_back(supervisor: Supervisor, call: Call) -> int:
    """Another one, as it was before the migration."""
    status = supervisor.do(call)
    other = _other(supervisor, call)
    supervisor.restart(other, supervisor.original(other))
    return status


def _successor_early(supervisor: Supervisor, call: Call) -> int:
    """The new process while the old one runs."""
    supervisor.replace(call.name, call.config, call.number)
    return 0


def _unchanged(supervisor: Supervisor, call: Call) -> int:
    supervisor.restart(call.name, _now(supervisor, call.name), call.number)
    return 0


def _deploys(supervisor: Supervisor, call: Call) -> int:
    """All members, as they were."""
    status = supervisor.do(call)
    for name in supervisor.by_name:
        if name != call.name:
            supervisor.restart(name, _now(supervisor, name))
    return status


def _fails_stopped(supervisor: Supervisor, call: Call) -> int:
    supervisor.stop(call.name)
    return 1


def _fails_done(supervisor: Supervisor, call: Call) -> int:
    supervisor.do(call)
    return 1


def _restarts_other(supervisor: Supervisor, call: Call) -> int:
    other = _other(supervisor, call)
    supervisor.restart(other, supervisor.for_other(call, other), call.number)
    return 0


def _is_killed(supervisor: Supervisor, call: Call) -> int:
    """At a random moment; what it has asked for is done."""
    after_s = Random(f"{supervisor.deployment.group} {call.number}").uniform(0, LONGEST_S)
    threading.Timer(after_s, supervisor.kill_command, (call,)).start()
    status = supervisor.do(call)
    time.sleep(max(0.0, call.began_s + after_s + 0.5 - time.monotonic()))
    return status


INSTEAD: Mapping[Trouble, Act] = {
    Mistake.SKIPPED_BOUNCE: _in_one_bounce,
    Mistake.REVERSED_LIST: _reversed,
    Mistake.TOO_EARLY: _next_too,
    Mistake.OLD_MEMBER: _old_one_back,
    Mistake.EARLY_SUCCESSOR: _successor_early,
    Mistake.WRONG_JAR: _unchanged,
    Mistake.DEPLOY: _deploys,
    CommandTrouble.FAILS: lambda *_: 1,
    CommandTrouble.FAILS_STOPPED: _fails_stopped,
    CommandTrouble.FAILS_DONE: _fails_done,
    CommandTrouble.HANGS: lambda *_: None,
    CommandTrouble.FORGETS: lambda *_: 0,
    CommandTrouble.WRONG_MEMBER: _restarts_other,
    CommandTrouble.KILLED: _is_killed,
}
"""What the command does instead of what it is asked for."""
