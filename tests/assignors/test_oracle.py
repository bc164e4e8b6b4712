"""Every assignor gives what Kafka's own class gives, or fails with its message. A failure names its seed:
KOHORT_ORACLE_SEED=… repeats the run, KOHORT_ORACLE_CASES=… scales it (`make oracle`)."""

from collections import Counter
from collections.abc import Mapping
from random import Random
from uuid import UUID

import pytest

from assignors.assignor import Assignor, Leader, Side
from assignors.errors import AssignorFailedError, AssignorHangsError
from assignors.java.hash_map import map_order, uuid_hashes, uuid_sort_key
from assignors.model import DenseGroup, GroupSpec, MemberSpec, Result
from assignors.registry import BUILT_IN, find
from tests.assignors.cases import chain
from tests.assignors.groups import group, holding, topics
from tests.kafka.oracle import JavaThrewError, Named, Oracle

pytestmark = pytest.mark.kafka

JAVAS = [assignor for assignor in BUILT_IN if assignor.leader is not Leader.LIBRDKAFKA]
NEVER = "never returns"


def _name(assignor: Assignor) -> str:
    return f"{assignor.side.value}-{assignor.name}"


@pytest.mark.parametrize("assignor", JAVAS, ids=_name)
def test_gives_what_java_gives(
    assignor: Assignor, oracle: Oracle, oracle_seed: str, oracle_cases: int
) -> None:
    print(f"KOHORT_ORACLE_SEED={oracle_seed}")
    counts: Counter[str] = Counter()
    number = 0
    while counts["asked"] < oracle_cases:
        number += 1

        def answer(spec: GroupSpec, number: int = number) -> Named | None:
            counts["asked"] += 1
            mine = ours(assignor, spec)
            if mine == NEVER:
                counts[NEVER] += 1
                return None
            theirs = java(oracle, assignor, spec)
            where = f"seed {oracle_seed}, chain {number}, case {counts['asked']}: {spec}"
            compare(mine, theirs, where)
            if isinstance(mine, Result) and not isinstance(theirs, str) and mine.map_order is not None:
                counts["shared a bin"] += compare_order(mine, theirs, spec, where)
            counts["failed"] += isinstance(theirs, str)
            return None if isinstance(theirs, str) else theirs

        for _ in chain(Random(f"{oracle_seed}-{number}"), assignor.name, assignor.side.value, answer):
            pass
    print(
        f"{_name(assignor)}: {counts['asked'] - counts[NEVER]} cases identical, {counts['failed']} of them "
        f"failures; {counts[NEVER]} that Java would never answer not asked; {counts['shared a bin']} maps in which "
        "topics shared a bin"
    )


def _member(id_: str, topic: str, *owned: int) -> MemberSpec:
    return holding(MemberSpec(id=id_, topics=(topic,)), {topic: owned} if owned else {}, 1)


GONE = {
    "who claims it keeps it, and another is assigned its own twice": (
        group(topics(t=1, u=3), _member("a", "u", 0, 1, 2), _member("b", "t", 0, 1)),
        {"a": {"u": [0, 0, 1, 1, 2, 2]}, "b": {"t": [0, 1]}},
    ),
    "it counts as its claimant's share": (
        group(topics(t=2), _member("a", "t", 2), _member("b", "t", 1), _member("c", "t")),
        "No more unfilled consumers to be assigned.",
    ),
    "its claimant restarted": (
        group(topics(t=2), _member("a", "t"), _member("b", "t", 1), _member("c", "t")),
        {"a": {"t": [0]}, "b": {"t": [1]}, "c": {}},
    ),
}
"""Claims of cooperative members, of a topic t that was created again with fewer partitions."""


@pytest.mark.parametrize(("spec", "expected"), GONE.values(), ids=GONE)
def test_java_keeps_claims_of_partitions_that_are_gone(
    spec: GroupSpec, expected: Named | str, oracle: Oracle
) -> None:
    cooperative = find("cooperative-sticky", Side.CLIENT)
    theirs = java(oracle, cooperative, spec)
    assert theirs == expected
    compare(ours(cooperative, spec), theirs, str(spec))


def java(oracle: Oracle, assignor: Assignor, spec: GroupSpec) -> Named | str:
    try:
        return oracle.assign(assignor.side.value, assignor.name, spec)
    except JavaThrewError as error:
        return str(error.message)


def ours(assignor: Assignor, spec: GroupSpec) -> Result | str:
    try:
        return assignor.assign(DenseGroup.of(spec))
    except AssignorHangsError:
        return NEVER
    except AssignorFailedError as error:
        return str(error)


def compare(mine: Result | str, theirs: Named | str, where: str) -> None:
    """The same answer or the same failure; what is said to be undetermined may differ."""
    if isinstance(mine, str):
        assert mine == theirs, where
        return
    named = mine.assignment.named()
    subjects = {undetermined.subject for undetermined in mine.undetermined}
    if named != theirs and subjects and not isinstance(theirs, str):
        assert _without(named, subjects) == _without(theirs, subjects), where
    else:
        assert named == theirs, where


def compare_order(mine: Result, theirs: Named, spec: GroupSpec, where: str) -> int:
    """Topics stand as in Java's map; the answer is in how many maps some shared a bin."""
    assert mine.map_order is not None
    if any(topic.id is None for topic in spec.topics) or mine.undetermined:
        return 0
    ids = {topic.name: topic.id for topic in spec.topics if topic.id is not None}
    mattered = 0
    for member, order in zip(spec.members, mine.map_order(), strict=True):
        has = theirs[member.id]
        ours = [spec.topics[topic].name for topic in order if spec.topics[topic].name in has]
        assert ours == list(has), where
        mattered += in_a_new_map(sorted(has), ids) != in_a_new_map(sorted(has, reverse=True), ids)
    return mattered


def in_a_new_map(names: list[str], ids: Mapping[str, UUID]) -> list[str]:
    order = map_order(uuid_hashes([ids[name] for name in names]), keys=[uuid_sort_key(ids[n]) for n in names])
    return [names[i] for i in order.indices.tolist()]


def _without(named: Named, subjects: set[str]) -> set[tuple[str, str, int]]:
    return {
        (member, topic, partition)
        for member, topics in named.items()
        for topic, partitions in topics.items()
        for partition in partitions
        if not {member, topic, f"{topic}-{partition}"} & subjects
    }
