"""How much `kohort top` asks of a cluster: what is on screen, and the list."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.options import SourceOptions
from cli.polls.reading import PolledGroup, PollResult
from cli.verbs.top.options import TopOptions
from cli.verbs.top.sight import Sight, is_old
from groups.model import Group, GroupState, GroupType, listing_of
from tests.cli.served_data import serving
from tests.cli.verbs.top.driving import Driven, drive, saved
from tests.kafka.commits import make_classic_groups
from tests.kafka.coordinator import wait_for_coordinator
from tests.kafka.topics import create_topics
from wire.messages.definition import Api

EVERY_S, SECONDS = 0.3, 1.5


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Requests by API."""
    counts: Counter[str] = Counter()
    encoded = Api.encode_request

    def counted(self: Api, *arguments: Any) -> bytes:
        counts[self.name] += 1
        return encoded(self, *arguments)

    monkeypatch.setattr(Api, "encode_request", counted)
    return counts


def test_only_what_is_on_screen_and_the_list_is_asked_for(sent: Counter[str], tmp_path: Path) -> None:
    async def course(top: Driven) -> None:
        async def during(*keys: str) -> Counter[str]:
            await top.press(*keys)
            await asyncio.sleep(EVERY_S)
            sent.clear()
            await asyncio.sleep(SECONDS)
            return Counter(sent)

        await top.read()
        most = SECONDS / EVERY_S + 1
        await asyncio.sleep(EVERY_S)
        read_ms = {name: seen.at_ms for name, seen in top.app.sight.groups.items()}
        listed = await during()
        again = {name for name, seen in top.app.sight.groups.items() if seen.at_ms != read_ms[name]}
        assert 0 < len(again) <= 24  # The lines of the screen
        assert listed["ListGroups"] <= 2
        assert listed["DescribeGroups"] <= most  # All groups on screen in one request
        assert listed["ListOffsets"] <= 3 * most
        read_ms = {name: seen.at_ms for name, seen in top.app.sight.groups.items()}
        opened = await during("enter")
        assert 0 < opened["DescribeGroups"] <= most
        again = {name for name, seen in top.app.sight.groups.items() if seen.at_ms != read_ms[name]}
        assert len(again) <= 30  # Those that were on screen before, and the one that is now
        contexts = await during("X")
        assert contexts.keys() <= {"ListGroups", "Metadata"}
        paused = await during("escape", "p")
        assert paused == {}
        top.app.at_ms = top.app.now_ms() + 600_000
        await top.wait_for("(10 min", "the age of the figures")
        assert "PAUSED" in top.text
        await top.press("r")
        await top.wait_for(lambda: sent["ListGroups"], "r reads also while it is paused")

    with serving(tmp_path) as served:
        wait_for_coordinator(served)
        create_topics(served, {"orders": 3})
        make_classic_groups(served, [f"group-{number:03}" for number in range(100)], "orders", 3)
        drive(course, SourceOptions(bootstrap_server=served.bootstrap), TopOptions(every=EVERY_S))


def test_a_group_out_of_sight_that_rebalances_is_read_soon() -> None:
    group = Group(id="billing", type=GroupType.CONSUMER, state=GroupState.STABLE)
    listing = listing_of(group)
    sight = Sight().listed([listing], 0, ())
    assert is_old(sight, "billing", 0)
    for at_ms in (0, 5_000):  # Two, for a verdict
        result = PollResult(at_ms=at_ms, groups={"billing": PolledGroup(id="billing", group=group)})
        sight = sight.read(result, None, at_ms)
    moving = sight.listed([replace(listing, state=GroupState.RECONCILING)], 20_000, ())
    assert [is_old(sight, "billing", at_ms) for at_ms in (20_000, 70_000)] == [False, True]
    assert [is_old(moving, "billing", at_ms) for at_ms in (10_000, 20_000)] == [False, True]


def test_a_fault_of_the_poller_ends_the_screens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("cli.verbs.top.poller.read_chosen", fail)

    async def course(top: Driven) -> None:
        await top.read()

    with pytest.raises(ZeroDivisionError):
        drive(course, saved(tmp_path, {"billing": {}}))
