"""The table on three brokers: each sequence has the same outcome as on one, at the coordinator of its groups."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.play import Server, Transcript, difference
from tests.conformance.script import Script, load
from tests.conformance.script import scripts as read_scripts
from tests.conformance.servers import kohort_serve
from tests.conformance.table import at_home, is_waiting, play_each
from tests.kafka.ports import HOST
from tests.support.long import IS_LONG

EACH = 16  # the step through the sequences that do not depend on time; a long run plays all
SPREAD = {"offsets.topic.num.partitions": "50"}
"""Enough names for the groups of a sequence to have the same coordinator under some of them."""
SHOW_BROKERS = frozenset(
    {
        "admin/partitions by page",
        "admin/what there is none of",
        "configs/settings of the broker",
        "groups/describe the cluster",
        "groups/describe what has no settings",
        "groups/find a coordinator",
        "topics/metadata",
        "topics/metadata asked for twice",
        "topics/topics that cannot be deleted",
        "topics/topics that cannot be made",
    }
)
"""Sequences that show the brokers, and possible replicas."""
OTHER_GROUPS = frozenset(
    {
        "classic_join/broken UTF-8",
        "classic_join/empty group id",
        "classic_join/empty group id, offsets",
        "classic_join/strings of every length",
        "groups/list groups",
    }
)
"""Sequences whose groups cannot all have the same coordinator."""
SCRIPTS = tuple(script for script in read_scripts() if script.name not in SHOW_BROKERS | OTHER_GROUPS)
PLAYED = SCRIPTS if IS_LONG else tuple(script for script in SCRIPTS if not is_waiting(script))[::EACH]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[Transcript, Transcript]]:
    """Behavior of one broker and of three, by the name of the script."""
    scratch = tmp_path_factory.mktemp("several")
    transcripts: dict[str, tuple[Transcript, Transcript]] = {}
    for profile, settings in load("profiles.yaml").items():
        scripts = [script for script in PLAYED if script.profile == profile]
        if scripts:
            transcripts |= _play(scratch, settings, scripts)
    return transcripts


def _play(
    scratch: Path, settings: Mapping[str, str], scripts: list[Script]
) -> dict[str, tuple[Transcript, Transcript]]:
    with (
        kohort_serve(scratch / "one.log", settings) as one,
        kohort_serve(scratch / "three.log", {**settings, **SPREAD}, "--brokers", "3") as three,
    ):

        async def both() -> tuple[dict[str, Transcript], dict[str, Transcript]]:
            at_three = await at_home(scripts, Server(name="Kohort", host=HOST, port=three))
            at_one = [(script, replace(home, port=one)) for script, home in at_three]
            return await asyncio.gather(play_each(at_one), play_each(at_three))

        alone, together = asyncio.run(both())
    return {name: (alone[name], together[name]) for name in alone}


@pytest.mark.parametrize("script", PLAYED, ids=[script.name for script in PLAYED])
def test_three_brokers_answer_as_one(
    script: Script, played: Mapping[str, tuple[Transcript, Transcript]]
) -> None:
    one, three = played[script.name]
    assert (one.fault, one.surprises) == (three.fault, three.surprises)
    for (label, expected), (_, outcome) in zip(one.outcomes, three.outcomes, strict=True):
        assert outcome == expected, f"{script.says}\nstep {label}: {difference(expected, outcome)}"


def test_sequences_that_are_left_out_are_there() -> None:
    assert {script.name for script in read_scripts()} >= SHOW_BROKERS | OTHER_GROUPS
