"""The simulation's requests per second of processor time, for members, engine and world together:
`python -m benchmarks.simulation`.

There are no faults, so most requests are heartbeats and commits; invariants are checked throughout. The start and the
quiet time at the end are included.
"""

import time

from coordinator.simulation.run import run
from coordinator.simulation.scenario import MemberScript, Scenario, Start, Variant

REQUESTS = 100_000


def scenario(members: int) -> Scenario:
    """Members that start one after the other and stay."""
    names = [f"m{number}" for number in range(members)]
    script = MemberScript(topics=("orders",))
    return Scenario(
        name=f"{members} members",
        topics={"orders": 4 * members},
        members=dict.fromkeys(names, script),
        events=tuple(Start(at=number / 100, member=name) for number, name in enumerate(names)),
        until_s=REQUESTS / members * 2.5,
    )


def main() -> None:
    """Print the table."""
    print(f"{'members, one process':<44} {'requests':>10} {'per second':>12} {'µs each':>8}")
    for members in (10, 100):
        for variant in (Variant.EAGER, Variant.COOPERATIVE, Variant.CONSUMER):
            started = time.process_time()
            result = run(scenario(members), 1, variant=variant, with_story=False)
            seconds = time.process_time() - started
            label = f"{members}, {variant.value}"
            each = 1e6 * seconds / result.requests
            print(f"{label:<44} {result.requests:>10,} {result.requests / seconds:>12,.0f} {each:>8.1f}")


if __name__ == "__main__":
    main()
