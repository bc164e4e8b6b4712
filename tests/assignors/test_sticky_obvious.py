"""The sticky assignors against the slow, obvious version and against Java, on random groups.

The seed is a fresh one each time and stands in the message of a failure; KOHORT_SEED sets it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from secrets import randbelow

import pytest

from assignors import cooperative, sticky
from assignors.model import AssignorFailedError, AssignorHangsError, DenseGroup, GroupSpec, Result
from tests.assignors.obvious_sticky import Held, obvious_cooperative, obvious_sticky
from tests.assignors.sticky_cases import group
from tests.kafka.oracle import JavaThrewError, Oracle, running

Assign = Callable[[DenseGroup], Result]
Obvious = Callable[[GroupSpec], Held]

CASES = 300
SEED = int(os.environ.get("KOHORT_SEED") or randbelow(10**9))
BOTH = pytest.mark.parametrize(
    ("name", "assign", "obvious"),
    [
        ("sticky", sticky.assign, obvious_sticky),
        ("cooperative-sticky", cooperative.assign, obvious_cooperative),
    ],
)


@BOTH
def test_the_fast_version_answers_like_the_obvious_one(name: str, assign: Assign, obvious: Obvious) -> None:
    for seed, spec in cases(name, obvious):
        ours = answer(assign, spec)
        if ours is not None:
            assert ours == obvious_answer(obvious, spec), f"{name}, seed {seed}"


@pytest.mark.kafka
@BOTH
def test_java_answers_like_us(java: Oracle, name: str, assign: Assign, obvious: Obvious) -> None:
    for seed, spec in cases(name, obvious):
        ours = answer(assign, spec)
        if ours is not None:
            assert ours == java_answer(java, name, spec), f"{name}, seed {seed}"


@pytest.fixture(scope="module")
def java(kafka_jars: Path) -> Iterator[Oracle]:
    # A hot method would throw its NullPointerExceptions without a message.
    with running(f"{kafka_jars}/*", "-XX:-OmitStackTraceInFastThrow") as oracle:
        yield oracle


def cases(name: str, obvious: Obvious) -> Iterator[tuple[int, GroupSpec]]:
    for seed in range(SEED, SEED + CASES):
        yield seed, group(Random(seed), obvious, cooperative=name == "cooperative-sticky")


def answer(assign: Assign, spec: GroupSpec) -> object:
    """The assignment, or the message of a failure; None where it cannot be known, or Java would never answer."""
    try:
        result = assign(DenseGroup.of(spec))
    except AssignorHangsError:
        return None
    except AssignorFailedError as error:
        return str(error)
    return None if result.undetermined else result.assignment.named()


def obvious_answer(obvious: Obvious, spec: GroupSpec) -> object:
    try:
        held = obvious(spec)
    except AssignorFailedError as error:
        return str(error)
    named: dict[str, dict[str, list[int]]] = {member: {} for member in held}
    for member, partitions in held.items():
        for topic, number in sorted(partitions):
            named[member].setdefault(topic, []).append(number)
    return named


def java_answer(java: Oracle, name: str, spec: GroupSpec) -> object:
    try:
        return java.assign("client", name, spec)
    except JavaThrewError as error:
        return error.message
