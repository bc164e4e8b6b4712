"""JSON documents as text: entries that are computed when they are read are written one by one."""

import json
from collections.abc import Iterable, Iterator

from cli.render.streamed import Streamed


def json_text(items: Iterable[tuple[str, object]], *, indent: int | None) -> Iterator[str]:
    """The text of an object with these fields, as `json.dumps` writes it, and a line feed."""
    line = "" if indent is None else "\n" + " " * indent  # Begins a line of a field
    between = ", " if indent is None else ","

    def text(value: object, begin: str) -> str:
        # dumps, unlike dump, runs in C from end to end; a line feed within a string is escaped.
        written = json.dumps(value, ensure_ascii=False, indent=indent)
        return written.replace("\n", begin) if begin else written

    comma = "{"
    for name, value in items:
        yield f"{comma}{line}{json.dumps(name)}: "
        comma = between
        if isinstance(value, Streamed):
            begin = "" if indent is None else line + " " * indent
            bracket = "["
            for entry in value:
                yield f"{bracket}{begin}{text(entry, begin)}"
                bracket = between
            yield "[]" if bracket == "[" else f"{line}]"
        else:
            yield text(value, line)
    yield "}\n" if indent is None else "\n}\n"
