"""Agents: the SDK's own client, connected to `kohort mcp` in each way."""

import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Implementation, TextContent

from cli.options import SourceOptions
from cli.verbs.mcp import child
from cli.verbs.mcp.action import agent_server, guard_of_http
from cli.verbs.mcp.http import serve_http
from cli.verbs.mcp.options import McpGuard, McpOptions
from tests.cli.schemas import faults
from tests.support import forked
from tests.support.long import IS_LONG

NAME = "a test's agent"
TOKEN = "t0ken"
INFO = Implementation(name=NAME, version="1")
Course = Callable[[Client], Awaitable[None]]
LIMIT_S = 1_800.0 if IS_LONG else 60.0


def installed() -> Path:
    return Path(sys.executable).with_name("kohort")


@contextmanager
def quick_commands(directory: Path) -> Iterator[None]:
    """Calls of tools run forked processes, which start in a moment."""
    forked.script(directory, os.environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child, "KOHORT", (str(directory / "kohort"),))
        yield


def over_stdio(course: Course, *options: str, stderr: Path) -> None:
    """Start the installed command as an agent's program does, and give its client, of the protocol of 2025."""

    async def run() -> None:
        server = StdioServerParameters(
            command=str(installed()), args=["mcp", *options], env={**os.environ, "HOME": str(stderr.parent)}
        )
        with anyio.fail_after(LIMIT_S), open(stderr, "w", encoding="utf-8") as errors:
            async with Client(stdio_client(server, errlog=errors), client_info=INFO, mode="legacy") as client:
                await course(client)

    run_async(run)


@asynccontextmanager
async def serving_http(
    source: SourceOptions, options: McpOptions, directory: Path, capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[str]:
    """Serve HTTP in this process, whose commands may be quick; its URL. It ends by a signal."""
    token = directory / "token"
    token.write_text(f"{TOKEN}\n")
    access = guard_of_http("0", McpGuard(token_file=token))
    assert access is not None
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_http, agent_server(options, source, directory), access)
            while not (printed := capsys.readouterr().out):
                await anyio.sleep(0.01)
            yield found(r"^Serving agents on (\S+)\n$", printed)
            signal.raise_signal(signal.SIGTERM)


def over_http(
    course: Course,
    source: SourceOptions,
    options: McpOptions,
    directory: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def run() -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            serving_http(source, options, directory, capsys) as url,
            httpx2.AsyncClient(headers=headers, timeout=LIMIT_S) as web,
            Client(streamable_http_client(url, http_client=web), client_info=INFO) as client,
        ):
            await course(client)

    run_async(run)


def run_async(run: Callable[[], Awaitable[None]]) -> None:
    """Run it; of errors in groups within groups the first is raised."""
    try:
        anyio.run(run)
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


def text(result: CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert "Traceback" not in content.text
    assert "internal error" not in content.text
    return content.text


async def answer(client: Client, tool: str, **arguments: object) -> dict[str, object]:
    """The document of a call that succeeds, which fits the schema of its command."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    document: dict[str, object] = result.structured_content
    assert faults(document) == []
    return document


async def refused(client: Client, tool: str, **arguments: object) -> str:
    result = await client.call_tool(tool, arguments)
    assert result.is_error, text(result)
    return text(result)


def found(pattern: str, said: str) -> str:
    match = re.search(pattern, said)
    assert match is not None, said
    return match[1]


def in_process(course: Course, source: SourceOptions, options: McpOptions, directory: Path) -> None:
    """Give the course a client of a server in this process, without a transport."""

    async def run() -> None:
        with anyio.fail_after(LIMIT_S):
            server = agent_server(options, source, directory)
            async with Client(server, client_info=INFO) as client:
                await course(client)

    run_async(run)
