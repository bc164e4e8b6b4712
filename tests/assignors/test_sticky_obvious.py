"""The sticky assignors against the slow, obvious version and against Java, on random groups.

A failure names its case; KOHORT_ORACLE_SEED=… repeats the run, KOHORT_ORACLE_CASES=… scales it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest

from assignors.errors import AssignorFailedError, AssignorHangsError
from assignors.java import cooperative_sticky as cooperative
from assignors.java import sticky
from assignors.model import DenseGroup, GroupSpec, Result
from tests.assignors.obvious_sticky import Held, obvious_cooperative, obvious_sticky
from tests.assignors.sticky_cases import group
from tests.kafka.oracle import JavaThrewError, Oracle

Assign = Callable[[DenseGroup], Result]
Obvious = Callable[[GroupSpec], Held]

BOTH = pytest.mark.parametrize(
    ("name", "assign", "obvious"),
    [
        ("sticky", sticky.assign, obvious_sticky),
        ("cooperative-sticky", cooperative.assign, obvious_cooperative),
    ],
)


@BOTH
def test_the_fast_version_answers_like_the_obvious_one(
    name: str, assign: Assign, obvious: Obvious, oracle_seed: str, oracle_cases: int
) -> None:
    for label, spec in cases(name, obvious, oracle_seed, oracle_cases):
        ours = answer(assign, spec)
        if ours is not None:
            assert ours == obvious_answer(obvious, spec), f"case {label}"


@pytest.mark.kafka
@BOTH
def test_java_answers_like_us(
    name: str, assign: Assign, obvious: Obvious, oracle: Oracle, oracle_seed: str, oracle_cases: int
) -> None:
    threw = unknown = 0
    for label, spec in cases(name, obvious, oracle_seed, oracle_cases):
        ours = answer(assign, spec)
        if ours is not None:
            assert ours == java_answer(oracle, name, spec), f"case {label}"
        threw, unknown = threw + isinstance(ours, str), unknown + (ours is None)
    print(
        f"{name}, {oracle_seed}: {oracle_cases - unknown} cases identical, {threw} of them failures of Java's"
    )


def cases(name: str, obvious: Obvious, seed: str, count: int) -> Iterator[tuple[str, GroupSpec]]:
    for number in range(count):
        label = f"{seed}-{name}-{number}"
        yield label, group(Random(label), obvious, cooperative=name == "cooperative-sticky")


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


def java_answer(oracle: Oracle, name: str, spec: GroupSpec) -> object:
    try:
        return oracle.assign("client", name, spec)
    except JavaThrewError as error:
        return error.message
