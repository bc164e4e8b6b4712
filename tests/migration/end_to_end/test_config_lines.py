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


@pytest.mark.parametrize(
    ("lines", "config", "before", "after"),
    [
        (["a=1", "# java", "b=2"], {}, {}, {"a": "1"}),
        ([], {"a": "1"}, {}, {"a": "1"}),
        (["# remove: a"], {}, {}, {}),
        (
            ["# restore, if it was set: a", "# restore, if it was set: b"],
            {"c": "3"},
            {"a": "1"},
            {"a": "1", "c": "3"},
        ),
    ],
    ids=["above all headings", "none", "nothing to remove", "restored"],
)
def test_lines_for_every_library(
    lines: list[str], config: dict[str, str], before: dict[str, str], after: dict[str, str]
) -> None:
    assert apply(lines, config, "librdkafka", before) == after


@pytest.mark.parametrize("line", ["restart it", "# perhaps remove a", "=x", "# remove: a, b"])
def test_unclear_line(line: str) -> None:
    with pytest.raises(UnclearLine):
        apply([line], {}, "java", {})
    with pytest.raises(UnclearLine):
        apply(["# java", "a=1"], {}, "librdkafka", {})
