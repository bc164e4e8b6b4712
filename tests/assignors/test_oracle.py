"""Every assignor gives what Kafka's own class gives, or fails with its message.

A failure names its seed: KOHORT_ORACLE_SEED=… repeats the run, KOHORT_ORACLE_CASES=… scales it (`make oracle`).
"""

from __future__ import annotations

from random import Random

import pytest

from assignors.assignor import Assignor, Leader
from assignors.model import AssignorFailedError, AssignorHangsError, DenseGroup, GroupSpec
from assignors.registry import built_in
from tests.assignors.cases import chain
from tests.kafka.oracle import JavaThrewError, Named, Oracle

pytestmark = pytest.mark.kafka

JAVAS = [assignor for assignor in built_in() if assignor.leader is not Leader.LIBRDKAFKA]
NEVER = "never returns"


def _name(assignor: Assignor) -> str:
    return f"{assignor.side.value}-{assignor.name}"


@pytest.mark.parametrize("assignor", JAVAS, ids=_name)
def test_gives_what_java_gives(
    assignor: Assignor, oracle: Oracle, oracle_seed: str, oracle_cases: int
) -> None:
    print(f"KOHORT_ORACLE_SEED={oracle_seed}")
    asked, threw, number = 0, 0, 0
    while asked < oracle_cases:
        number += 1
        answers: list[Named | str] = []

        def answer(spec: GroupSpec, answers: list[Named | str] = answers) -> Named | None:
            answers.append(java(oracle, assignor, spec))
            last = answers[-1]
            return None if isinstance(last, str) else last

        rounds = chain(Random(f"{oracle_seed}-{number}"), assignor.name, assignor.side.value, answer)
        specs = list(rounds)
        for round_, (spec, theirs) in enumerate(zip(specs, answers, strict=True)):
            assert ours(assignor, spec) == theirs, f"seed {oracle_seed}, chain {number}, round {round_}"
            threw += isinstance(theirs, str)
        asked += len(specs)
    print(f"{_name(assignor)}: {asked} cases identical, {threw} of them failures of Java's")


def java(oracle: Oracle, assignor: Assignor, spec: GroupSpec) -> Named | str:
    """What Java gives, or the message of what it throws; it is not asked what it would never answer."""
    if ours(assignor, spec) == NEVER:
        return NEVER
    try:
        return oracle.assign(assignor.side.value, assignor.name, spec)
    except JavaThrewError as error:
        return str(error.message)


def ours(assignor: Assignor, spec: GroupSpec) -> Named | str:
    """What ours gives, or the message of its failure."""
    try:
        return assignor.assign(DenseGroup.of(spec)).assignment.named()
    except AssignorHangsError:
        return NEVER
    except AssignorFailedError as error:
        return str(error)
