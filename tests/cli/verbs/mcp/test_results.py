"""Pages contain all of a document, and texts stay short, whatever is in it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cli.verbs.mcp.results import MOST_NAME, PAGE, DocumentPage, as_safe, pages_of, text_of
from cli.verbs.mcp.server import MOST_KEPT, KeptPages
from cli.verbs.mcp.tools import CHANGING, READING, AgentTool, CallFailed, input_schema, output_schema


def group(number: int, offsets: int = 0, members: int = 0) -> dict[str, Any]:
    return {
        "group": f"g{number}", "state": "Stable",
        "members": [{"id": f"m{member}", "host": "x" * 100} for member in range(members)],
        "offsets": [{"topic": "orders", "partition": place, "lag": 1} for place in range(offsets)],
    }  # fmt: skip


def document(*groups: dict[str, Any]) -> dict[str, Any]:
    return {"kohort": 1, "command": "describe", "groups": list(groups), "errors": []}


def size(page: DocumentPage) -> int:
    return len(json.dumps(page.data))


def joined(pages: list[DocumentPage]) -> list[Any]:
    """The groups of all pages, each with all parts of its lists."""
    groups: dict[str, Any] = {}
    for page in pages:
        listed = page.data["groups"]
        assert isinstance(listed, list)
        for part in listed:
            known = groups.setdefault(part["group"], {**part, "members": [], "offsets": []})
            known["members"] += part["members"]
            known["offsets"] += part["offsets"]
    return [*groups.values()]


MANY, LONG_ONES = (
    [group(number, 3) for number in range(2_000)],
    [group(number, 400, 100) for number in range(5)],
)


@pytest.mark.parametrize(
    "groups",
    [[], [group(0)], MANY, [group(0), group(1, 5_000, 1_000), group(2)], [group(0, 10_000)], LONG_ONES],
)
def test_pages_contain_everything_once(groups: list[dict[str, Any]]) -> None:
    pages = pages_of(document(*groups))
    assert joined(pages) == groups
    assert max(map(size, pages)) < PAGE * 1.5
    assert all(len(text_of(page)) < 5_000 for page in pages)
    ranges = [page.range for page in pages]
    assert ranges == [None] or len(set(ranges)) == len(pages)


def test_the_range_of_a_page_is_exact() -> None:
    pages = pages_of(document(group(0), group(1, 2_000), *(group(number) for number in range(2, 700))))
    assert pages[0].range == "groups 1 of 700"
    first = "groups 2 of 700: offsets 1 to 850 of 2,000"
    assert (pages[1].range, text_of(pages[1])) == (first, 'a part of "g1"')
    assert str(pages[-1].range).endswith(" to 700 of 700")
    two = pages_of(document(group(0, 2_000, 2_000)))
    assert str(two[0].range).endswith(" (other long lists are on other pages)")


def test_a_part_that_no_page_can_hold_is_an_error() -> None:
    with pytest.raises(CallFailed, match="fewer groups"):
        pages_of(document({**group(0), "assignment": {f"orders-{number}": [0] for number in range(50_000)}}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["groups", "group", "errors", "plans", "verdict", "offsets"]), JSON))
def test_any_document_is_safe_and_has_a_text(made: dict[str, Any]) -> None:
    safe = as_safe(made)
    assert isinstance(safe, dict)
    assert as_safe(safe) == safe
    assert json.dumps(safe, ensure_ascii=False).isprintable()
    for page in pages_of(safe):
        assert text_of(page).replace("\n", "").isprintable()


def test_long_names_stay_different() -> None:
    one, other = as_safe({"x" * 30_000 + end: None for end in "ab"})
    assert one != other
    assert one.startswith("x" * MOST_NAME + "… (cut: 30,001 characters")


def test_only_the_newest_long_documents_are_kept() -> None:
    kept = KeptPages()
    pages = [DocumentPage(data={}, range=f"{number}") for number in range(3)]
    first = str(kept.keep(pages)).removesuffix(".2")
    assert kept.keep(pages[:1]) is None
    assert kept.at(f"{first}.2") == (pages[1], f"{first}.3")
    assert kept.at(f"{first}.3") == (pages[2], None)
    numbers = ("0", "4", "-1", "²", "9" * 5000)
    for cursor in ("", first, "x.1", *(f"{first}.{number}" for number in numbers)):
        with pytest.raises(CallFailed):
            kept.at(cursor)
    for _ in range(MOST_KEPT):
        kept.keep(pages)
    with pytest.raises(CallFailed):
        kept.at(f"{first}.2")


@pytest.mark.parametrize("tool", [*READING, *CHANGING], ids=lambda tool: tool.name)
def test_schemas_of_a_tool_are_complete(tool: AgentTool) -> None:
    for schema in (input_schema(tool, {}), output_schema(tool)):
        assert schema["type"] == "object"
        Draft202012Validator.check_schema(schema)
        assert '.json"' not in json.dumps(schema)
    assert not NEVER & set(tool.parameters)


NEVER = {
    *("bootstrap_server", "context", "all_contexts", "timeout", "snapshot", "log_dir", "output"),
    *(
        "client_config",
        "clients",
        "replay",
        "journal",
        "svg",
        "output_dir",
        "topics",
        "faults",
        "topology",
        "file",
    ),
    *(
        "from_file",
        "to_group",
        "execute",
        "yes",
        "confirm",
        "no_journal",
        "watch",
        "wait",
        "wait_empty",
        "jobs",
    ),
}
"""Files, other sources and groups, consent, and what has no end: an agent sets none of these."""
