"""What goes wrong while a plan is carried out in a rehearsal: hooks that fail, members that die, and a Kohort that is
killed and started again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from random import Random

from migration.model import SESSION_S, Plan

HANG_S = 100.0  # When a hook that hangs is ended


class HookFault(Enum):
    """What is wrong with one run of a hook."""

    FAILS = "fails"  # It exits with an error before it has done anything
    FAILS_STOPPED = "fails-stopped"  # It exits with an error after it has stopped the process
    FAILS_DONE = "fails-done"  # It exits with an error, although it has restarted the process
    HANGS = "hangs"  # It never ends, and does nothing
    NOTHING = "nothing"  # It exits with status 0, and does nothing
    WRONG_MEMBER = "wrong-member"
    WRONG_CONFIGURATION = "wrong-configuration"  # It starts the process as it was before the migration


PROBLEMS = {
    HookFault.FAILS: "exit status 1",
    HookFault.FAILS_STOPPED: "exit status 1",
    HookFault.FAILS_DONE: "exit status 1",
    HookFault.HANGS: f"it did not end within {HANG_S:.0f} s",
}
"""What the caller of a hook sees of its fault; nothing of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberDeath:
    after_hook: int  # By its number, from 1: when that one begins
    member: str  # By the ids of the plan
    returns_s: float | None = None  # When its supervisor starts it again; None: never


@dataclass(frozen=True, slots=True, kw_only=True)
class KohortDeath:
    at_s: float
    away_s: float = 0.0  # Until it is started again, after the hooks that were running have ended
    takes_bridge: bool = True  # Whether the bridge is killed with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Troubles:
    hooks: Mapping[int, HookFault] = field(default_factory=dict)  # By the number of the hook, from 1
    killed: MemberDeath | None = None
    deaths: Sequence[KohortDeath] = ()  # In the order of time
    rolls_back: bool = False  # Whether a stop is followed by the rollback

    @property
    def texts(self) -> Iterator[str]:
        yield from (f"hook {number}: {fault.value}" for number, fault in sorted(self.hooks.items()))
        if self.killed is not None:
            returns_s = self.killed.returns_s
            again = "" if returns_s is None else f", started again after {returns_s:.0f} s"
            yield f"{self.killed.member} dies at hook {self.killed.after_hook}{again}"
        for death in self.deaths:
            yield f"Kohort is killed at {death.at_s:.0f} s, and started again {death.away_s:.0f} s later"


def drawn_troubles(plan: Plan, members: Sequence[str], seed: int) -> Troubles:
    """The troubles of a seed: one of each kind, several or none, at any moment of the plan or of its rollback."""
    random = Random(f"{seed} troubles")  # noqa: S311
    rollouts = [step.rollout for step in plan.steps if step.rollout]
    hooks = sum(len(seats) for rollout in rollouts for seats in rollout.rounds)
    rounds = sum(len(rollout.rounds) for rollout in rollouts)
    lasts_s = 1.5 * rounds * (plan.bounce_s + 10.0) + SESSION_S
    faults = list(HookFault)
    return Troubles(
        hooks={random.randint(1, hooks): random.choice(faults) for _ in range(random.choice((0, 1, 1, 2)))},
        killed=MemberDeath(
            after_hook=random.randint(1, hooks),
            member=random.choice(members),
            returns_s=random.choice((None, random.uniform(1.0, 100.0))),
        )
        if random.random() < 0.2
        else None,
        deaths=[
            KohortDeath(
                at_s=at_s,
                away_s=random.choice((0.0, random.uniform(0, 300))),
                takes_bridge=random.random() < 0.5,
            )
            for at_s in sorted(random.uniform(0, lasts_s) for _ in range(random.choice((0, 0, 1, 2))))
        ],
        rolls_back=random.random() < 0.5,
    )
