"""The parser by itself: any arguments at all lead to options or to a message."""

import string
from collections.abc import Callable, Sequence
from operator import itemgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.dropin.deleting import named_partitions
from cli.dropin.errors import ToolFailure, ToolUsageError, VersionRequested
from cli.dropin.parse import FLAGS, Options, parse
from cli.dropin.printing import ToolColumn, java_length, table, width_of
from tests.cli.dropin.harness import PAIRS

Parse = Callable[[Sequence[str]], Options]
SERVER = ("--bootstrap-server", "b:9092")
WORDS = st.one_of(
    st.sampled_from([f"--{flag}" for flag in FLAGS]),
    st.sampled_from(["-", "--", "", "=", "--=", "-=", "---", "--list=", "-list", "1", "-1", "a,b", "t:0,1"]),
    st.text(max_size=8),
)


def answer(arguments: list[str], parse: Parse = parse) -> Options | str:
    try:
        return parse(arguments)
    except (ToolFailure, ToolUsageError) as error:
        return str(error)
    except VersionRequested:
        return "version"


@given(st.lists(WORDS, max_size=8))
def test_any_arguments_give_options_or_a_message(arguments: list[str]) -> None:
    result = answer(arguments)
    assert result != ""
    if isinstance(result, Options):
        assert any(result.action.value in argument for argument in arguments)
        assert result.bootstrap_server in [*arguments, result.regex and ""]


@pytest.mark.parametrize("program", [program for program in PAIRS if program != "consumer-groups"])
@given(st.data())
def test_any_arguments_of_other_tools_give_options_or_a_message(program: str, data: st.DataObject) -> None:
    flags = st.sampled_from([f"--{flag}" for flag in PAIRS[program].flags])
    arguments = data.draw(st.lists(WORDS | flags, max_size=8))
    assert answer(arguments, PAIRS[program].parse) != ""


def test_a_number_may_have_many_zeros() -> None:
    options = parse([*SERVER, "--list", "--timeout", "0" * 5000 + "7", "--shift-by", "-9223372036854775808"])
    assert (options.timeout_ms, options.shift_by) == (7, -(2**63))
    assert named_partitions("orders:" + "0" * 5000 + "7") == [("orders", 7)]


def test_bytes_that_are_no_text_are_read_as_java_reads_them() -> None:
    broken = b"caf\xe9".decode("utf-8", "surrogateescape")
    assert parse([*SERVER, "--describe", "--group", broken]).groups == ("caf\ufffd",)


@given(st.lists(st.text(string.printable + "𝄞é", max_size=20), min_size=1, max_size=5))
def test_columns_begin_where_the_widest_cell_ends(cells: list[str]) -> None:
    widths = [width_of([cell], 5) for cell in cells]
    columns = [
        ToolColumn[list[str]]("", itemgetter(number), width) for number, width in enumerate([*widths, 0])
    ]
    _, line = table([[*cells, "last"]], *columns).split("\n")
    assert line.endswith(" last")
    assert java_length(line) == sum(widths) + len(widths) + len("last")
