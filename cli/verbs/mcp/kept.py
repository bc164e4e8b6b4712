"""What the server keeps of earlier calls, by ids that their texts name: pages of long documents, and plans as files."""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from cli.verbs.mcp.results import DocumentPage
from cli.verbs.mcp.tools import CallFailed

MOST_KEPT = 16


class KeptPages:
    """The newest documents of which pages are left to read."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, Sequence[DocumentPage]] = OrderedDict()

    def keep(self, pages: Sequence[DocumentPage]) -> str | None:
        """The cursor of the second page, which cannot be guessed; None if there is one page."""
        if len(pages) < 2:
            return None
        name = token_hex(4)
        self._pages[name] = pages
        if len(self._pages) > MOST_KEPT:
            self._pages.popitem(last=False)
        return f"{name}.2"

    def at(self, cursor: str) -> tuple[DocumentPage, str | None]:
        """The page of a cursor, and the cursor of the next page if there is one. Raises CallFailed."""
        name, _, number = cursor.partition(".")
        pages = self._pages.get(name, ())
        page = int(number[:9]) if number.isdecimal() else 0
        if not 1 <= page <= len(pages):
            raise CallFailed(
                "there is no such cursor, or no longer: call without it, and read from the first page"
            )
        return pages[page - 1], f"{name}.{page + 1}" if page < len(pages) else None


def keep_plan(directory: Path, document: Mapping[str, object]) -> str:
    """Write a plan as a file, next to which gates write their notes; its id, a part of its digest."""
    text = json.dumps(document)
    name = sha256(text.encode()).hexdigest()[:8]
    (directory / f"{name}.json").write_text(text, encoding="utf-8")
    return name


def plan_file(directory: Path, plan: object) -> str:
    """The file of a plan: an id, or a document. Raises CallFailed."""
    name = keep_plan(directory, plan) if isinstance(plan, dict) else str(plan)
    file = directory / f"{name}.json"
    if not name.isalnum() or not file.exists():
        raise CallFailed(
            "there is no such plan: call the tool plan for one group, and give the id that it reports"
        )
    return str(file)
