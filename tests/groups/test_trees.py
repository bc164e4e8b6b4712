"""Dataclasses and trees: one declaration reads and writes, and what is wrong is named with its place."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import pytest

from groups.trees import (
    KEY,
    UNWRITTEN,
    Between,
    Malformed,
    PartitionNumbers,
    Tagged,
    Trees,
    Unknown,
    count_values,
    named,
    path_to,
)  # fmt: skip
from groups.yaml_files import TreeError, load_tree


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class IsRed:
    since: int = 0


@dataclass(frozen=True, kw_only=True)
class NotBlue:
    but: Color


@dataclass(frozen=True, kw_only=True)
class Item:
    name: str = field(metadata=KEY)
    origin: str = field(default="", metadata=named("from"))
    size: Annotated[int, Between(-1, 9)] | None = None
    owned: Mapping[str, PartitionNumbers] | None = None
    data: bytes = b""
    id: UUID | None = None
    ready: bool | None = None
    share: float = 0.0
    drawn: str = field(default="not read", metadata=UNWRITTEN)


@dataclass(frozen=True, kw_only=True)
class Store:
    items: Mapping[str, Item] = field(default_factory=dict)
    rules: tuple[Annotated[IsRed | NotBlue, Tagged("rule")], ...] = ()
    colors: tuple[Color, ...] = ()


def test_what_is_unknown_is_written_as_null_or_left_out() -> None:
    store = Store(items={"a": Item(name="a")})
    assert Trees().write(Store, store)["items"]["a"]["size"] is None
    sparse = Trees(sparse=True).write(Store, store)
    assert sparse == {"items": {"a": {"from": "", "data": "", "share": 0.0}}, "rules": [], "colors": []}
    assert Trees(sparse=True).read(Store, {**sparse, "rules": None}) == store


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("items: {a: {size: ten}}", 1, 19, "items.a.size: expected a whole number, found 'ten'"),
        ("items:\n  a:\n    size: 10", 3, 11, "items.a.size: 10 is out of range (-1 to 9)"),
        ("items:\n  a:\n    owned:\n      t: [2, 1, 2]", 4, 10, "items.a.owned.t: a number is listed twice"),
        ("items:\n  a:\n    owned:\n      t: [2, x]", 4, 14, "items.a.owned.t[1]: expected a whole number"),
        ("items: {a: {data: '*'}}", 1, 19, "items.a.data: expected base64, found '*'"),
        ("items: {a: {ready: yes}}", 1, 20, "items.a.ready: expected true or false, found 'yes'"),
        ("items: {a: {share: nan}}", 1, 20, "items.a.share: 'nan' is out of range"),
        ("items: {a: {form: x}}", 1, 19, "items.a.form: unknown field; did you mean from?"),
        ("items: {a: {zzz: x}}", 1, 18, "items.a.zzz: unknown field; ask"),
        ("items: {a: {name: x}}", 1, 19, "items.a.name: unknown field"),
        ("items: []", 1, 8, "items: expected a mapping, found a list"),
        ("rules:\n- rule: is-green", 2, 9, "rules[0].rule: expected one of is-red, not-blue; found 'is-"),
        ("rules:\n- red", 2, 3, "rules[0]: expected a mapping with `rule: …`, found 'red'"),
        ("rules:\n- rule: not-blue", 2, 3, "rules[0].but: is missing"),
        ("colors: [red, green]", 1, 15, "colors[1]: expected one of red, blue; found 'green'"),
    ],
)
def test_an_error_names_line_column_and_path(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(Malformed) as caught:
        Trees(advice="ask").read(Store, load_tree(Path("f"), text))
    error = TreeError.at(Path("f"), text, caught.value)
    assert (error.line, error.column) == (line, column)
    assert str(error).startswith(f"f:{line}: {message}")


def test_unknown_fields_are_collected_where_that_is_wanted() -> None:
    unknown: Unknown = []
    tree: Any = {"items": {"a": {"zzz": 1}}, "later": 2}
    assert Trees().read(Store, tree, unknown) == Store(items={"a": Item(name="a")})
    paths = [(*path_to(tree, mapping), name) for mapping, name in unknown]
    assert paths == [("items", "a", "zzz"), ("later",)]


def test_values_behind_aliases_count_each_time() -> None:
    inner = ["x"] * 10
    tree = {"a": [inner] * 10, "b": inner}
    assert count_values(tree, 1000) == 1 + (1 + 10 * 11) + 11
    assert count_values(tree, 50) == 50
