"""Whatever a file of offsets or a value of `--topic` holds, it is read or refused, and never a fault of the program."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.dropin.deleting import named_partitions
from cli.dropin.errors import ToolFailure, ToolUsageError
from cli.dropin.resetting import read_plan
from tests.support.long import cases

FIELDS = st.sampled_from(
    [*'01"\ufeff\0é٣', "orders", "payments", "-1", "+7", " 3 ", "1.5", "9" * 19, "9" * 30, "", '"a"']
)
LINES = st.lists(FIELDS, max_size=6).map(",".join)
FILES = st.lists(LINES, max_size=5).map("\n".join).map(str.encode) | st.binary(max_size=60)


@settings(
    max_examples=cases("KOHORT_EXAMPLES", 100, many=2_000),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(content=FILES, groups=st.sampled_from([(), ("payments",), ("payments", "billing")]))
def test_a_file_is_read_or_refused(content: bytes, groups: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    file.write_bytes(content)
    plan, refusal = {}, ""
    try:
        plan = dict(read_plan(file, groups))
    except ToolFailure as error:
        refusal = str(error)
    assert not refusal or refusal.startswith(str(file))
    for offsets in plan.values():
        assert offsets
        for (topic, partition), offset in offsets.items():
            assert topic
            assert 0 <= partition < 2**31
            assert 0 <= offset < 2**63


@settings(deadline=None)
@given(text=st.text(st.sampled_from("ab:,0123+-٣ \0"), max_size=12) | st.text(max_size=12))
def test_partitions_are_read_or_refused(text: str) -> None:
    places, refusal = [], ""
    try:
        places = named_partitions(text)
    except ToolUsageError as error:
        refusal = str(error)
    if refusal:
        assert text in refusal
        return
    topic, _, numbers = text.partition(":")
    assert places == [(topic, int(number)) for number in numbers.rstrip(":").split(",") if number]
    assert all(-(2**31) <= partition < 2**31 for _, partition in places)


@pytest.mark.parametrize("path", ["/no/such/file", "/", "a\0b"])
def test_what_is_no_file_is_refused(path: str) -> None:
    with pytest.raises(ToolFailure, match="Unable to read file"):
        read_plan(Path(path), ("payments",))


def test_of_a_partition_that_comes_twice_the_last_counts(tmp_path: Path) -> None:
    file = tmp_path / "offsets.csv"
    file.write_text("orders,0,5\norders,1,6\norders,0,7\n")
    assert read_plan(file, ("payments",)) == {"payments": {("orders", 0): 7, ("orders", 1): 6}}
