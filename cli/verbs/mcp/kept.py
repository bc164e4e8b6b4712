"""What the server remembers of earlier calls, by the id that their texts name: the pages of long documents, and plans
as files that other tools read."""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from cli.verbs.mcp.child import CallFailed
from cli.verbs.mcp.results import DocumentPage

MOST_KEPT = 16  # Long documents
MOST_PREVIEWS = 1_000


class KeptPages:
    """The newest documents of which pages are left to read."""

    def __init__(self) -> None:
        self._pages: OrderedDict[str, Sequence[DocumentPage]] = OrderedDict()

    def keep(self, pages: Sequence[DocumentPage]) -> str:
        """Their id, which cannot be guessed."""
        name = token_hex(4)
        self._pages[name] = pages
        if len(self._pages) > MOST_KEPT:
            self._pages.popitem(last=False)
        return name

    def at(self, cursor: str) -> tuple[DocumentPage, str | None]:
        """The page of a cursor, and the cursor of the next page if there is one. Raises CallFailed."""
        name, _, number = cursor.partition(".")
        pages = self._pages.get(name, ())
        if not number.isdecimal() or not 1 <= int(number[:9]) <= len(pages):
            raise CallFailed(
                "there is no such cursor, or no longer: call without it, and read from the first page"
            )
        page = int(number)
        return pages[page - 1], f"{name}.{page + 1}" if page < len(pages) else None


class ShownPreviews:
    """The newest previews that were shown, by tool and digest: only what was shown can be executed."""

    def __init__(self) -> None:
        self._shown: OrderedDict[tuple[str, str], None] = OrderedDict()

    def add(self, tool: str, digest: str) -> None:
        self._shown[tool, digest] = None
        if len(self._shown) > MOST_PREVIEWS:
            self._shown.popitem(last=False)

    def check(self, tool: str, digest: str) -> None:
        """Raises CallFailed: it was not shown."""
        if (tool, digest) not in self._shown:
            raise CallFailed(f"no preview had this digest: call {tool}_preview, and read what it shows")


class PlanFiles:
    """Plans in a directory, each with the notes that gates take of it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def keep(self, document: Mapping[str, object]) -> str:
        """Write a plan; its id is part of its digest, so that the same plan has one file."""
        text = json.dumps(document)
        name = sha256(text.encode(errors="replace")).hexdigest()[:8]
        self._file(name).write_text(text, encoding="utf-8", errors="replace")
        return name

    def path_of(self, plan: object) -> str:
        """The file of a plan: an id, or a document. Raises CallFailed."""
        name = self.keep(plan) if isinstance(plan, dict) else str(plan)
        if not name.isalnum() or not self._file(name).exists():
            raise CallFailed(
                "there is no such plan: call the tool plan for one group, and give the id that it names"
            )
        return str(self._file(name))

    def _file(self, name: str) -> Path:
        return self._directory / f"{name}.json"
