"""What a page in a browser may not have run on the server's machine."""

import pytest

from cli.verbs.top.confined import out_of_reach
from cli.verbs.top.words import CHANGES, VIEWS
from tests.cli.command import commands


@pytest.mark.parametrize("name", sorted(VIEWS | CHANGES))
def test_no_path_and_no_other_source_is_named_in_a_browser(name: str) -> None:
    command = commands()[name]
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    for parameter in command.params:
        is_path = type(parameter.type).__name__ == "TyperPath"
        if is_path or (parameter.rich_help_panel or "") in (
            "Source of groups",
            "Several clusters",
            "Another cluster",
        ):
            if parameter.param_type_name == "argument":
                words = ["x"] * (1 + arguments.index(parameter))
            elif parameter.is_flag:
                words = [parameter.opts[0]]
            else:
                words = [parameter.opts[0], *["x"] * parameter.nargs]
            assert out_of_reach([*name.split(), *words]) is not None, words


def test_what_is_about_the_groups_on_screen_may_be_run() -> None:
    for line in (
        "describe billing --migration", "why billing --since 1h", "plan billing --to consumer", "list --match b",
        "offsets reset billing --to-latest", "config get billing", "delete -- --snapshot",
    ):  # fmt: skip
        assert out_of_reach(line.split()) is None, line
    assert out_of_reach(["context", "show", "prod"]) == "context"
    assert out_of_reach(["offsets", "reset", "billing", "--to-latest", "--no-journal"]) == "--no-journal"
    assert out_of_reach(["describe", "--migration", "--snapshot", "x"]) == "--snapshot"
