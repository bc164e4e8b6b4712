"""Findings about Kafka Streams on the classic protocol, with near misses."""

from collections.abc import Mapping, Sequence

import pytest

from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.diagnose import diagnose
from groups.model import Member
from tests.groups.diagnosis.groups import START_MS, observations
from tests.groups.streams_groups import application, thread


def old(name: str) -> Member:
    return thread(name, used=4, newest=4)


def new(name: str) -> Member:
    """Of a newer release, on the old one's version."""
    return thread(name, used=4, newest=11)


def look(*threads: Member, looks: int = 1, every_ms: int = 20_000) -> list[Observation]:
    return observations(*[application(*threads)] * looks, every_ms=every_ms, topics={})


STREAMS: Mapping[str, tuple[Sequence[Observation], list[tuple[str, str, tuple[str, ...]]]]] = {
    "one release": (look(thread("a1"), thread("b1")), []),
    "a rolling upgrade": (
        look(old("a1"), new("b1")),
        [("streams-versions", "note", ("a1-id",))],
    ),
    "the last old instance has left, just now": (
        look(new("a1"), new("b1")),
        [("streams-version-probe", "warning", ("a1-id", "b1-id"))],
    ),
    "the last old instance has left, and nothing changes": (
        look(new("a1"), thread("b1"), looks=2),
        [("streams-version-probe", "error", ("a1-id",))],
    ),
    "a new instance does not lower its version": (
        look(old("a1"), thread("b1", given=4), looks=2),
        [("streams-version-probe", "error", ("b1-id",)), ("streams-versions", "note", ("a1-id",))],
    ),
    "upgrade.from 1.1 everywhere": (
        look(thread("a1", used=2), thread("b1", used=2)),
        [("streams-versions", "note", ("a1-id", "b1-id"))],
    ),
    "upgrade.from 1.1 on one": (
        look(thread("a1", used=2), thread("b1")),
        [("streams-versions", "note", ("a1-id",))],
    ),
    "a shutdown is requested": (
        look(thread("a1", error=4), thread("b1")),
        [("streams-error", "error", ("a1-id",))],
    ),
    "an error that is not known": (look(thread("a1", error=77)), [("streams-error", "error", ("a1-id",))]),
    "a probing rebalance that is due": (look(thread("a1", next_ms=START_MS - 40_000), looks=2), []),
    "a probing rebalance that is overdue": (
        look(thread("a1", next_ms=START_MS - 41_000), looks=2),
        [("streams-probe-overdue", "warning", ("a1-id",))],
    ),
}


@pytest.mark.parametrize(("seen", "expected"), STREAMS.values(), ids=STREAMS)
def test_streams(seen: Sequence[Observation], expected: list[tuple[str, str, tuple[str, ...]]]) -> None:
    findings = diagnose("app", seen, Thresholds()).findings
    of_streams = [one for one in findings if one.rule.startswith("streams")]
    assert [(one.rule, one.level.value, one.members or (one.member,)) for one in of_streams] == expected
