"""The parser by itself: any arguments at all lead to options or to a message."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.dropin.deleting import named_partitions
from cli.dropin.errors import BadValue, ToolFailure, ToolUsageError, VersionRequested
from cli.dropin.parse import FLAGS, Action, Options, parse
from cli.dropin.printing import java_length, row, width_of

SERVER = ("--bootstrap-server", "b:9092")
WORDS = st.one_of(
    st.sampled_from([f"--{flag}" for flag in FLAGS]),
    st.sampled_from(["-", "--", "", "=", "--=", "-=", "---", "--list=", "-list", "1", "-1", "a,b", "t:0,1"]),
    st.text(max_size=8),
)


def answer(arguments: list[str]) -> Options | str:
    """The options, or what is said instead."""
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


def test_values_are_taken_as_typed() -> None:
    options = parse([*SERVER, "--describe", "--group", "--list", "--group=a=b", "--group", "", "--state"])
    assert options.action is Action.DESCRIBE
    assert options.groups == ("--list", "a=b", "")
    assert options.state == ""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--list", "--state", "--type"], Options(action=Action.LIST, state="", type="")),
        (["--list", "--type", "classic"], Options(action=Action.LIST, type="classic")),
        (["--list", "--timeout", "-5"], Options(action=Action.LIST, timeout_ms=-5)),
        (["--list", "--to-offset", "+7", "--to-offset", "8"], Options(action=Action.LIST, to_offset=7)),
    ],
)
def test_options(arguments: list[str], expected: Options) -> None:
    assert parse(arguments + list(SERVER)) == Options(
        **{field: getattr(expected, field) for field in Options.__slots__ if field != "bootstrap_server"},
        bootstrap_server=SERVER[1],
    )


@pytest.mark.parametrize(
    "number", ["1" * 5000, "9223372036854775808", "-9223372036854775809", "1_0", " 1", "٣٫٥", ""]
)
def test_what_is_no_number(number: str) -> None:
    with pytest.raises(BadValue, match="Cannot parse argument"):
        parse([*SERVER, "--list", f"--timeout={number}"])


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
    line = row([*cells, "last"], widths)
    assert line.endswith(" last")
    assert java_length(line) == sum(widths) + len(widths) + len("last")
