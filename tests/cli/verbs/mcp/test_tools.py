"""Every tool, by the SDK's own client, over standard input and output and over HTTP."""

from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import TextResourceContents

from cli.options import SourceOptions
from cli.verbs.help.command import page_names, page_source
from cli.verbs.mcp.options import McpOptions
from cli.verbs.mcp.resources import FOLDERS
from cli.verbs.mcp.results import PAGE
from cli.verbs.mcp.tools import READING
from tests.cli.schemas import faults
from tests.cli.verbs.mcp.agents import Course, answer, found, over_http, over_stdio, refused, text
from tests.docs.pages import DOCS
from tests.support.long import LONG


async def see_all(client: Client) -> None:
    """Call every tool on the sample fleet."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {tool.name for tool in READING}
    assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools.values())
    for name in ("list", "lag", "describe", "diagnose", "why"):
        some = {"match": "^(billing|fraud)$"} if name in ("list", "lag") else {"groups": ["billing"]}
        result = await client.call_tool(name, some)
        assert '"billing": ' in text(result)
        assert faults(result.structured_content) == []
    await answer(client, "validate_regex", patterns=["(?!audit).*"], **{"from": "java"})
    await answer(client, "dry_run", groups=["billing"], add=1)
    await answer(client, "journal", since="1h")
    await answer(client, "what_if", groups=["billing"], protocol=["consumer"], seeds=1)
    planned = await client.call_tool("plan", {"groups": ["billing"], "to": "cooperative"})
    plan = found(r"id of the plan, for gate and rehearse: (\w+)", text(planned))
    assert (await answer(client, "gate", plan=plan))["open"] is True  # The next step of its notes
    assert (await answer(client, "gate", plan=planned.structured_content, step="1"))["open"] is False
    assert (await answer(client, "rehearse", plan=plan))["safe"] is True
    for name, arguments, reason in WRONG:
        assert reason in await refused(client, name, **arguments)
    await see_resources(client)


WRONG: tuple[tuple[str, dict[str, object], str], ...] = (
    ("list", {"bootstrap_server": "elsewhere:9092"}, "bootstrap_server"),
    ("list", {"context": "production"}, "context"),
    ("plan", {"groups": ["billing"], "to": "consumer", "output_dir": "/tmp"}, "output_dir"),
    ("describe", {"groups": []}, "groups"),
    ("describe", {"groups": ["--output=table"]}, "no such group"),
    ("describe", {"groups": ["x" * 40_000]}, "maxLength: 32767"),
    ("describe", {"groups": ["x" * 2_000] * 60}, "longer than 100,000"),
    ("describe", {"groups": ["a\0b"]}, "null byte"),
    ("what_if", {"groups": ["billing"], "seeds": 10_000}, "seeds"),
    ("gate", {"plan": "../../etc/passwd", "step": "1"}, "no such plan"),
    ("gate", {"plan": {"kohort": 1}, "step": "1"}, "plan"),
    ("list", {"cursor": "12345678.2"}, "no such cursor"),
    ("delete_execute", {"groups": ["billing"], "digest": "0"}, "delete is not allowed"),
    ("shell", {}, "there is no tool"),
)


async def see_resources(client: Client) -> None:
    """All have a title and a description, and their pages together the whole text."""
    resources = {resource.uri: resource for resource in (await client.list_resources()).resources}
    docs = {
        f"kohort://docs/{page.relative_to(DOCS).as_posix()}": page
        for folder in FOLDERS
        for page in (DOCS / folder).glob("*.md")
    }
    assert {*docs, "kohort://glossary", *(f"kohort://help/{name}" for name in page_names())} == {*resources}
    assert [
        uri for uri, resource in resources.items() if not resource.title or not resource.description
    ] == []
    assert await read(client, "kohort://help/epochs") == page_source("epochs")
    uri = "kohort://docs/reference.md"
    pages = [await read(client, f"{uri}{page}") for page in ("", "?page=2", "?page=3")]
    ends = [f"\n(page {number} of 3; next page: {uri}?page={number + 1})\n" for number in (1, 2)]
    bodies = [page.removesuffix(end) for page, end in zip(pages, [*ends, ""], strict=True)]
    assert "".join(bodies) == docs[uri].read_text()
    assert max(map(len, bodies)) <= PAGE
    assert all(map(str.endswith, pages, ends))
    for wrong in (
        "kohort://docs/none.md",
        f"{uri}?page=4",
        f"{uri}?page=0",
        "kohort://docs/../pyproject.toml",
        "file:///etc/passwd",
        "",
    ):
        with pytest.raises(MCPError, match="there is no resource"):
            await client.read_resource(wrong)


async def read(client: Client, uri: str) -> str:
    (page,) = (await client.read_resource(uri)).contents
    assert isinstance(page, TextResourceContents)
    return page.text


def test_all_tools_over_http(sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    over_http(see_all, SourceOptions(embedded=sample), McpOptions(), tmp_path, capsys)


async def see_some(client: Client) -> None:
    assert {tool.name for tool in (await client.list_tools()).tools} == {tool.name for tool in READING}
    await answer(client, "list")
    assert "no such group" in await refused(client, "describe", groups=["nothing"])
    await see_resources(client)


@pytest.mark.parametrize("course", [see_some, pytest.param(see_all, marks=LONG)])
def test_tools_over_standard_input_and_output(sample: Path, tmp_path: Path, course: Course) -> None:
    stderr = tmp_path / "stderr"
    over_stdio(course, "--embedded", str(sample), stderr=stderr)
    assert stderr.read_text() == ""
