"""A person's hand at a client's configuration."""

import pytest

from tests.migration.end_to_end.config_lines import UnclearLine, apply

LINES = (
    "# java",
    "partition.assignment.strategy=a.B,c.D",
    "# remove: session.timeout.ms",
    "# librdkafka",
    "group.protocol=consumer",
    "# remove: partition.assignment.strategy",
)


def test_lines_of_the_library_alone_are_applied() -> None:
    config = {"session.timeout.ms": "1", "partition.assignment.strategy": "range", "client.id": "x"}
    assert apply(LINES, config, "java", {}) == {"partition.assignment.strategy": "a.B,c.D", "client.id": "x"}
    assert apply(LINES, config, "librdkafka", {}) == {
        "session.timeout.ms": "1",
        "client.id": "x",
        "group.protocol": "consumer",
    }


def test_lines_above_all_headings_are_for_everyone() -> None:
    assert apply(["a=1", "# java", "b=2"], {}, "librdkafka", {}) == {"a": "1"}
    assert apply([], {"a": "1"}, "java", {}) == {"a": "1"}


def test_what_is_not_there_need_not_be_removed() -> None:
    assert apply(["# remove: a"], {}, "java", {}) == {}


def test_what_was_removed_is_put_back() -> None:
    lines = ["# restore, if it was set: a", "# restore, if it was set: b"]
    assert apply(lines, {"c": "3"}, "java", {"a": "1"}) == {"a": "1", "c": "3"}


@pytest.mark.parametrize("line", ["restart it", "# perhaps remove a", "=x", "# remove: a, b"])
def test_unclear_line(line: str) -> None:
    with pytest.raises(UnclearLine):
        apply([line], {}, "java", {})


def test_library_without_lines() -> None:
    with pytest.raises(UnclearLine):
        apply(["# java", "a=1"], {}, "librdkafka", {})
