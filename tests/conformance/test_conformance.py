"""Kohort answers what Apache Kafka answers, sequence by sequence, over the wire."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest

from tests.conformance.play import Server, Transcript, difference
from tests.conformance.script import Script, load
from tests.conformance.script import scripts as read_scripts
from tests.conformance.servers import kohort_servers, real_brokers
from tests.conformance.table import play_all
from tests.kafka.jars import fetch, kafka_version

pytestmark = pytest.mark.kafka

SCRIPTS = read_scripts()
RELEASES: Mapping[str, Mapping[str, str | None]] = load("releases.yaml")
IS_OTHER = kafka_version() in RELEASES
"""Whether the broker is of another release than the table, whose `expect` does not apply then."""
OF_OTHERS = RELEASES.get(kafka_version(), {})
DIFFERENCES = {name: why for name, why in {**load("differences.yaml"), **OF_OTHERS}.items() if why}
PENDING: Mapping[str, str] = load("pending.yaml") or {}
ATTEMPTS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Behavior of both servers, by the name of the script."""

    real: Mapping[str, Transcript]
    ours: Mapping[str, Transcript]


@pytest.fixture(scope="module")
def played(kafka_jars: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    scratch = tmp_path_factory.mktemp("conformance")
    options = ("--release", kafka_version()) if IS_OTHER else ()
    with real_brokers(fetch(), scratch) as brokers, kohort_servers(scratch, *options) as servers:
        real, ours = asyncio.run(_play(brokers, servers))
        yield Played(real=real, ours=ours)


async def _play(
    brokers: Mapping[str, Server], servers: Mapping[str, Server]
) -> tuple[dict[str, Transcript], dict[str, Transcript]]:
    """All profiles and both servers in parallel; differences are played again, because a busy machine is late."""
    real, ours = await _play_once(SCRIPTS, brokers, servers)
    for attempt in range(2, ATTEMPTS + 1):
        troubles = {script.name: _trouble(script, real, ours) for script in SCRIPTS}
        again = [script for script in SCRIPTS if troubles[script.name]]
        if not again:
            break
        for script in again:
            print(f"played again: {script.name}: {troubles[script.name]}")
        tagged = [
            {name: replace(one, tag=f".{attempt}") for name, one in side.items()}
            for side in (brokers, servers)
        ]
        later = await _play_once(again, *tagged)
        real, ours = {**real, **later[0]}, {**ours, **later[1]}
    return real, ours


def _trouble(script: Script, real: Mapping[str, Transcript], ours: Mapping[str, Transcript]) -> str:
    one, other = real[script.name], ours[script.name]
    surprises = [] if IS_OTHER else one.surprises
    if one.fault or surprises:
        return one.fault or "; ".join(surprises)
    if script.name in DIFFERENCES or script.name in PENDING or one.outcomes == other.outcomes:
        return ""
    apart = [
        f"step {label}: {difference(expected, outcome)}"
        for (label, expected), (_, outcome) in zip(one.outcomes, other.outcomes, strict=False)
        if expected != outcome
    ]
    return other.fault or "; ".join(apart)


async def _play_once(
    scripts: Sequence[Script], brokers: Mapping[str, Server], servers: Mapping[str, Server]
) -> tuple[dict[str, Transcript], dict[str, Transcript]]:
    transcripts: list[dict[str, Transcript]] = await asyncio.gather(
        *(
            play_all([script for script in scripts if script.profile == profile], server)
            for side in (brokers, servers)
            for profile, server in side.items()
        )
    )
    middle = len(brokers)
    return _merged(transcripts[:middle]), _merged(transcripts[middle:])


def _merged(parts: list[dict[str, Transcript]]) -> dict[str, Transcript]:
    return {name: transcript for part in parts for name, transcript in part.items()}


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.name for script in SCRIPTS])
@pytest.mark.skipif(IS_OTHER, reason="the table says what its own release answers")
def test_the_broker_answers_what_the_table_says(script: Script, played: Played) -> None:
    real = played.real[script.name]
    assert (real.fault, real.surprises) == ("", [])


@pytest.mark.parametrize("script", SCRIPTS, ids=[script.name for script in SCRIPTS])
def test_kohort_answers_what_the_broker_answers(script: Script, played: Played) -> None:
    real, ours = played.real[script.name], played.ours[script.name]
    if DIFFERENCES.get(script.name, "").startswith("By chance"):
        as_the_table = (real.fault, real.surprises) == ("", [])
        assert ours.outcomes == real.outcomes or as_the_table
        return
    if script.name in DIFFERENCES or script.name in PENDING:
        assert ours.outcomes != real.outcomes, f"{script.name} no longer differs: take it off the list"
        return
    assert ours.fault == real.fault
    for (label, expected), (_, outcome) in zip(real.outcomes, ours.outcomes, strict=False):
        assert outcome == expected, _report(script, label, expected, outcome)
    assert len(ours.outcomes) == len(real.outcomes)


def _report(script: Script, label: str, expected: object, outcome: object) -> str:
    return (
        f"{script.says}\nstep {label}: {difference(expected, outcome)}\n"
        f"Kafka:  {json.dumps(expected)}\nKohort: {json.dumps(outcome)}"
    )


def test_lists_name_sequences_that_are_there() -> None:
    names = {script.name for script in SCRIPTS}
    assert set(DIFFERENCES) <= names
    assert set(PENDING) <= names
    assert not set(DIFFERENCES) & set(PENDING)
    assert {name for of_release in RELEASES.values() for name in of_release} <= names
