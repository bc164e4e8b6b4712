"""How long `kohort what-if` plays a week of a group of 50 members with 150 to 200 rebalances, as it was and as it might
have been, from 20 seeds each: `python -m benchmarks.what_if`.

The past is simulated: restarts, a third of them crashes, at random times. The coordinator's log of it becomes the
scenario, as the log of a broker would.
"""

import os
import resource
import time
from random import Random

from coordinator.simulation.alternatives import AS_IT_WAS, WhatIfAlternative
from coordinator.simulation.calibration import calibration_of
from coordinator.simulation.from_history import Past, past_of
from coordinator.simulation.history_log import US_PER_MS, HistoryLog
from coordinator.simulation.scenario import MemberScript, Restart, Scenario, Start, Variant
from coordinator.simulation.what_if import play, play_until
from coordinator.simulation.world import World
from groups.history.commits import Commits
from groups.history.course import course_of
from groups.history.departures import Knowledge

MEMBERS, PARTITIONS, RESTARTS, DAYS, SEEDS = 50, 200, 85, 7, 20
_WEEK_S = DAYS * 86_400
_ASSIGNORS = {"eager": ("range",), "cooperative": ("cooperative-sticky",)}


def past(protocol: str) -> Past:
    """A week of a group."""
    random = Random(1)
    script = MemberScript(
        topics=("orders",),
        protocol="consumer" if protocol == "consumer" else "classic",
        assignors=_ASSIGNORS.get(protocol, ()),
        after_error="restart",
    )
    names = [f"worker-{number}" for number in range(MEMBERS)]
    times = sorted(random.uniform(600, _WEEK_S - 600) for _ in range(RESTARTS))
    restarts = [
        Restart(at=at, member=random.choice(names), script=script, after_s=8, kill=random.random() < 1 / 3)
        for at in times
    ]
    scenario = Scenario(
        topics={"orders": PARTITIONS},
        members=dict.fromkeys(names, script),
        events=(*(Start(at=0, member=name) for name in names), *restarts),
        settings={"offsets.retention.check.interval.ms": str(2**31 - 1)},
        until_s=_WEEK_S,
    )
    world = World(scenario, 7, with_story=False, with_rules=False)
    log = HistoryLog(world)
    play_until(world, _WEEK_S * 1000)
    knowledge = Knowledge(session_timeout_ms=45_000, heartbeat_interval_ms=5_000)
    course = course_of("payments", log.events, Commits.of(log.commits), knowledge)
    return past_of(course, until=_WEEK_S * 1000 * US_PER_MS)


def main() -> None:
    """Print the table."""
    processes = len(os.sched_getaffinity(0))
    print(f"{processes} processes, {SEEDS} seeds")
    heads = f"{'agrees':>7} {'seconds':>8} {'of processors':>14} {'MB':>5}"
    print(f"{'the past':<10} {'rebalances':>10} {'played':>24} {heads}")
    for protocol, other in (
        ("eager", Variant.COOPERATIVE),
        ("eager", Variant.CONSUMER),
        ("consumer", Variant.EAGER),
    ):
        was = past(protocol)
        started, before_s = time.perf_counter(), _processors_s()
        simulated, _ = play(
            was, (AS_IT_WAS, WhatIfAlternative(protocol=other)), range(1, SEEDS + 1), processes
        )
        seconds = time.perf_counter() - started
        busy_s, most = (
            _processors_s() - before_s,
            resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        )
        agrees = "yes" if calibration_of(was, simulated).agrees else "no"
        shown = f"as it was, {other.value}"
        figures = f"{agrees:>7} {seconds:>8.1f} {busy_s:>14.1f} {most:>5.0f}"
        print(f"{protocol:<10} {was.observed.rebalances:>10} {shown:>24} {figures}")


def _processors_s() -> float:
    """The time of the processors, of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
