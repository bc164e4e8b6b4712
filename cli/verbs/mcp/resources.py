"""What an agent can read: the pages of `kohort help`, its glossary, and the pages of docs/."""

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from textwrap import shorten as shortened

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from cli.verbs.help.command import glossary, page_names, page_source, title_of
from cli.verbs.mcp.results import PAGE, parts_of, shown

MARKDOWN = "text/markdown"
_LATER = re.compile(r"(.+)\?page=([1-9]\d{0,3})")
FOLDERS = ("", "explanation/", "migrate/", "runbooks/")  # Of docs/, where setuptools has the same ones
MOST_SUMMARY = 300  # Characters
_NO_PROSE = re.compile(r"\s*(?:#|!|\||<|- |```|    |$)")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


async def list_resources(
    _context: ServerRequestContext, _params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    resources = [
        types.Resource(
            name=uri.removeprefix("kohort://"), title=title_of(text), description=summary_of(text), uri=uri,
            mime_type=MARKDOWN, size=len(text.encode()),
        )
        for uri, text in _texts().items()
    ]  # fmt: skip
    return types.ListResourcesResult(resources=resources)


async def read_resource(
    _context: ServerRequestContext, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    later = _LATER.fullmatch(params.uri)
    uri, number = (later[1], int(later[2])) if later else (params.uri, 1)
    pages = [*parts_of(_texts().get(uri, "").splitlines(keepends=True), PAGE)]
    if number > len(pages):
        message = f"there is no resource {shown(params.uri)}: resources/list has their addresses"
        raise MCPError(code=types.INVALID_PARAMS, message=message)
    text = "".join(map(str, pages[number - 1][0]))
    if number < len(pages):
        text += f"\n(page {number} of {len(pages)}; next page: {uri}?page={number + 1})\n"
    content = types.TextResourceContents(uri=params.uri, mime_type=MARKDOWN, text=text)
    return types.ReadResourceResult(contents=[content])


def summary_of(text: str) -> str:
    """The first paragraph on one line, without links and not too long."""
    first = next((part for part in text.split("\n\n")[1:] if not _NO_PROSE.match(part)), "")
    return shortened(" ".join(_LINK.sub(r"\1", first).split()), width=MOST_SUMMARY, placeholder=" …")


@cache
def _texts() -> dict[str, str]:
    """The pages by address; the links of a page lead to others, relative to its address."""
    pages = {f"kohort://help/{name}": page_source(name) for name in page_names()}
    docs = {f"kohort://docs/{path}": text for folder in FOLDERS for path, text in _markdown(folder)}
    return pages | {"kohort://glossary": glossary()} | docs


def _markdown(folder: str) -> Iterator[tuple[str, str]]:
    for file in sorted(files("cli.verbs.mcp").joinpath("docs", folder).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".md"):
            yield f"{folder}{file.name}", file.read_text(encoding="utf-8")
