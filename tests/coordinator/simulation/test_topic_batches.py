"""B21: a leader collects changes of topics for a while before it rejoins (client-side assignment proposal)."""

from pathlib import Path

import pytest

from coordinator.simulation.result import RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Variant
from coordinator.simulation.scenario_file import parse_scenario

NAMED, BY_REGEX = "topics: [orders, x, y, z]", "regex: 'orders|[xyz]'"
THREE = "{at: 30, topic: x, create: 2}", "{at: 33, topic: y, create: 2}", "{at: 36, topic: z, create: 2}"
TAKEN_BACK = "{at: 30, topic: x, create: 2}", "{at: 35, topic: x, delete: true}"
JOINED_MEANWHILE = "{at: 30, topic: x, create: 2}", "{at: 32, start: c}"
AGAIN = (*JOINED_MEANWHILE, "{at: 38, topic: x, partitions: 3}")
RESUBSCRIBED = "{at: 30, topic: x, create: 2}", "{at: 32, subscribe: a, topics: [x]}"


def played(member: str, batch: str, events: tuple[str, ...], variant: Variant) -> RunResult:
    text = "kohort: 1\ntopics: {orders: 4}\nmembers:\n"
    for name in "abc":
        text += (
            f"  {name}: {{{member}, batch_topic_changes: {batch}, config: {{metadata.max.age.ms: 100}}}}\n"
        )
    text += "events:\n  - {at: 0, start: a}\n  - {at: 5, start: b}\n"
    text += "".join(f"  - {event}\n" for event in (*events, "{at: 59, topic: unrelated, create: 1}"))
    result = run(parse_scenario(Path("batches.yaml"), f"{text}until: 60\n"), 1, variant=variant)
    assert (result.violations, result.converged_s is None) == ((), False)
    return result


def generations(result: RunResult) -> list[int]:
    """The seconds from 20 s on at which a generation became Stable."""
    return [int(entry.at_s) for entry in result.story if entry.at_s > 20 and "is Stable" in entry.what]


@pytest.mark.parametrize("variant", [Variant.EAGER, Variant.COOPERATIVE], ids=lambda variant: variant.value)
@pytest.mark.parametrize(
    "member",
    [NAMED, BY_REGEX, f"library: librdkafka, assignors: [range], {NAMED}"],
    ids=["named", "regex", "rd"],
)
def test_three_new_topics_within_the_time_cause_one_rebalance(member: str, variant: Variant) -> None:
    at_once, batched = (played(member, batch, THREE, variant) for batch in ("0", "10s"))
    before, after = generations(at_once), generations(batched)
    assert (len(before), len(after)) == (3, 1), (before, after)
    assert after[0] >= 40
    assert batched.final == at_once.final
    waits = [(entry.at_s, entry.what) for entry in batched.story if "collects" in entry.what]
    assert (30.0, "collects changes of topics for 10 s") in waits


@pytest.mark.parametrize(
    ("events", "seconds"),
    [
        pytest.param(TAKEN_BACK, [], id="a topic that is gone again causes none"),
        pytest.param(JOINED_MEANWHILE, [33], id="another rebalance takes the changes along"),
        pytest.param(AGAIN, [33, 48], id="a change after that waits again"),
        pytest.param(RESUBSCRIBED, [33], id="a change of the own subscription does not wait"),
    ],
)
def test_the_wait_ends_with_its_reason(events: tuple[str, ...], seconds: list[int]) -> None:
    assert generations(played("topics: [orders, x]", "10s", events, Variant.EAGER)) == seconds
