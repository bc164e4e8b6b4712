"""What the simulation makes of a story equals what real consumers did in it on a real broker."""

from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from coordinator.consumer.outputs import AssignorCall, AssignorMethod, TopicPartition
from coordinator.simulation.result import RunResult
from coordinator.simulation.run import run
from coordinator.simulation.scenario import Variant
from tests.coordinator.simulation.recordings import (
    RECORDED,
    Call,
    Course,
    MemberCourse,
    Topics,
    read_recording,
    side_by_side,
    with_ranked_generations,
    without_repetitions,
)
from tests.coordinator.simulation.story_files import read_story, story_names, variants_of, with_library
from tests.support.long import IS_LONG
from tests.support.weighted_assignor import offered

SEEDS = range(3 if IS_LONG else 1)
LOGGED = "logs a warning: "
RECORDINGS = sorted(RECORDED.glob("*.json"))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_callbacks_equal_those_of_real_consumers(path: Path) -> None:
    """A07: lost-by-default*; C31, D05: *enforce-rebalance*; C58: regex-changed, topics-to-regex; D05: assign-*; D08:
    unsubscribe*, resubscribe*; topics that do not exist: topic-missing*, topic-created, regex-nothing."""
    recording = read_recording(path)
    scenario = with_library(read_story(recording.story), recording.client)
    for course in recording.courses:
        for seed in SEEDS:
            with offered():
                result = run(scenario, seed, variant=Variant(recording.variant), member_ids=course.first_ids)
            simulated = simulated_course(result, course)
            # With the ids of the recording there is one course, unless the order of events is chance.
            expected = recording.courses if recording.why else (course,)
            if simulated not in expected:
                pytest.fail(f"seed {seed}\n{side_by_side(course.members, simulated.members)}", pytrace=False)


def test_every_story_is_recorded_from_java() -> None:
    expected = {
        f"{name}.{variant.value}.java" for name in story_names() for variant in variants_of(read_story(name))
    }
    assert expected == {path.stem for path in RECORDINGS if path.stem.endswith(".java")}


def test_what_repeats_with_every_poll_is_one_call() -> None:
    empty, full = Call(what="assigned", partitions={}), Call(what="assigned", partitions={"orders": [0]})
    thrown = Call(what="KafkaException")
    assert without_repetitions([full, thrown, empty, thrown, empty, thrown]) == (full, thrown, empty, thrown)
    assert without_repetitions([thrown, thrown, empty]) == (thrown, empty)
    assert without_repetitions([empty, empty, full]) == (empty, empty, full)


def simulated_course(result: RunResult, recorded: Course) -> Course:
    """A run as a course, of the members that the recorded one has."""
    calls: dict[str, list[tuple[float, int, Call]]] = {name: [] for name in recorded.members}
    for number, made in enumerate(result.callbacks):
        method = result.scenario.members[made.member].method_of(made.kind)
        call = Call(what=method.value, partitions=_topics(made.partitions), at_s=made.at_s)
        calls[made.member].append((made.at_s, 2 * number, call))
    for called in result.assignor_calls:
        fields = _assignor_fields(called.call)
        call = Call(what=called.call.method.value, assignor=fields, at_s=called.at_s)
        calls[called.member].append((called.at_s, 2 * called.callbacks_before - 1, call))
    for thrown in result.thrown:
        # What a listener or an assignor throws comes after its call.
        call = Call(what=thrown.error, message=thrown.message, at_s=thrown.at_s)
        calls[thrown.member].append((thrown.at_s, 2 * len(result.callbacks), call))
    for entry in result.story:
        if entry.what.startswith(LOGGED):
            call = Call(what="warning", message=entry.what.removeprefix(LOGGED), at_s=entry.at_s)
            calls[entry.who].append((entry.at_s, 2 * len(result.callbacks), call))
    course = Course(
        members={
            name: MemberCourse(
                calls=without_repetitions(call for *_, call in sorted(those, key=lambda made: made[:2])),
                final=_topics(result.final[name]) if name in result.final else None,
            )
            for name, those in calls.items()
        }
    )
    return with_ranked_generations(course)


def _assignor_fields(call: AssignorCall) -> dict[str, Any]:
    """As java/WeightedAssignor.java reports it."""
    returned = {} if call.error else {"user_data": _base64(call.user_data)}
    failed = {"error": call.error} if call.error else {}
    match call.method:
        case AssignorMethod.SUBSCRIPTION_USER_DATA | AssignorMethod.METADATA:
            return {"topics": sorted(call.topics), **returned, **failed}
        case AssignorMethod.ASSIGN:
            members: dict[str, dict[str, Any]] = {}
            for share in call.members:
                members[share.member] = {"sent": _base64(share.sent)}
                if not call.error:
                    assigned, data = _topics(share.partitions), _base64(share.user_data)
                    members[share.member] |= {"partitions": assigned, "user_data": data}
            return {"members": members, **failed}
        case AssignorMethod.ON_ASSIGNMENT:
            group = call.group
            return {
                "partitions": _topics(call.partitions),
                "user_data": _base64(call.user_data),
                "generation": group and group.generation,
                "instance": group and group.instance,
                **failed,
            }


def _base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _topics(partitions: Iterable[TopicPartition]) -> Topics:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return topics
