"""The time of a rehearsal of a large group, from one seed and without rollbacks: `make bench-rehearsals`.

Processor time is for one process; other work on the machine increases it, but less than wall time. Simulated time is
the duration of the migration.
"""

import os
import platform
import time

from benchmarks.plans import TOPICS, large_group
from migration.clients import parse_clients
from migration.model import Destination
from migration.plan import case_of, make_plan
from migration.rehearsal.plan_run import places, rehearse, simulated_for_plan
from migration.rehearsal.simulated_members import FoundGroup
from migration.rules.case import PlanRequest

BOUND_S = 20.0
"""The bound for 100 members on 1,000 partitions."""
SIZES = ((10, 100), (100, 1_000))
AT_A_TIME = (10, 1)


def main() -> None:
    """Print one table."""
    print(f"{platform.machine()}, Python {platform.python_version()}, {os.cpu_count()} processors")
    print(f"{'plan':<44} {'at a time':>9} {'rounds':>6} {'simulated':>9} {'wall':>8} {'CPU':>8} {'bound':>6}")
    for members, partitions in SIZES:
        for destination in (Destination.COOPERATIVE, Destination.CONSUMER):
            for at_a_time in AT_A_TIME:
                measure(members, partitions, destination, at_a_time)


def measure(members: int, partitions: int, destination: Destination, at_a_time: int) -> None:
    """Print one line; a plan that is not safe is an error."""
    snapshot = large_group("range", members, partitions // TOPICS)
    (group,), topics = snapshot.groups.values(), snapshot.topics
    clients = parse_clients(["java:4.3.1"])
    request = PlanRequest(destination=destination, declared=clients, concurrency=at_a_time)
    plan = make_plan(case_of(request, group, snapshot.cluster, topics=list(topics.values())))
    found = FoundGroup(group=group, cluster=snapshot.cluster, topics=topics)
    simulated_members = simulated_for_plan(plan, found)
    wall, processor = time.perf_counter(), time.process_time()
    played = rehearse(plan, found, simulated_members, 1)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    if not played.is_safe:
        raise SystemExit(f"{members} members to {destination.value}: {played.unsafe[0]}")
    what = f"{members} members, {partitions:,} partitions: {plan.path}"
    simulated = f"{played.polls[-1].at_s / 60:.0f} min"
    bound = f"{BOUND_S:.0f} s" if (members, partitions) == SIZES[-1] else ""
    print(
        f"{what:<44} {at_a_time:>9} {len(places(plan)):>6} {simulated:>9} {wall:>6.1f} s {processor:>6.1f} s "
        f"{bound:>6}{' missed' if bound and processor > BOUND_S else ''}",
        flush=True,
    )


if __name__ == "__main__":
    main()
