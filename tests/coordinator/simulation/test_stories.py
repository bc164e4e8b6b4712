"""What the simulation makes of a story equals what real consumers did in it on a real broker."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from coordinator.consumer.outputs import TopicPartition
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
    without_repetitions,
)
from tests.coordinator.simulation.story_files import read_story, story_names, variants_of, with_library

SEEDS = range(3)
RECORDINGS = sorted(RECORDED.glob("*.json"))


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_callbacks_equal_those_of_real_consumers(path: Path) -> None:
    recording = read_recording(path)
    scenario = with_library(read_story(recording.story), recording.client)
    for course in recording.courses:
        for seed in SEEDS:
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
    calls: dict[str, list[Call]] = {name: [] for name in recorded.members}
    for made in result.callbacks:
        calls[made.member].append(
            Call(what=made.kind.value, partitions=_topics(made.partitions), at_s=made.at_s)
        )
    for thrown in result.thrown:
        calls[thrown.member].append(Call(what=thrown.error, message=thrown.message, at_s=thrown.at_s))
    return Course(
        members={
            name: MemberCourse(
                # Stable: what a listener throws comes after its call.
                calls=without_repetitions(sorted(those, key=lambda call: call.at_s)),
                final=_topics(result.final[name]) if name in result.final else None,
            )
            for name, those in calls.items()
        }
    )


def _topics(partitions: Iterable[TopicPartition]) -> Topics:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    return topics
