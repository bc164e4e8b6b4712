"""`make man`: a man page for `kohort`, for each command and each family of commands, from their own help. click-man
lays the pages out. Its own walk over commands knows only click's classes, and Typer includes its own click, so the
content of a page is assembled here."""

import inspect
import re
import shutil
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import typer.main
from click_man.man import ManPage

from cli.app import app
from cli.command_tree import summary
from cli.commands import SECTIONS

_TITLE = re.compile(r"^\.TH .*", re.M)
_PARAGRAPHS = re.compile(r"\n\n|\n(?=\x08)")


def pages() -> dict[str, str]:
    """The pages by file name: `kohort.1`, `kohort-describe.1`, `kohort-offsets-reset.1`."""
    return _pages("kohort", typer.main.get_command(app))


def _pages(name: str, command: Any) -> dict[str, str]:
    texts = {f"{name.replace(' ', '-')}.1": _page(name, command)}
    for word, inner in _commands(command).items():
        texts |= _pages(f"{name} {word}", inner)
    return texts


def _commands(command: Any) -> Mapping[str, Any]:
    commands: Mapping[str, Any] = getattr(command, "commands", {})
    return commands


def _page(name: str, command: Any) -> str:
    context = command.context_class(command, info_name=name)
    page = ManPage(name)
    page.version = f"kohort {version('kohort')}"
    page.short_help = escaped(_short(command))
    page.synopsis = " ".join(command.collect_usage_pieces(context))
    page.description = "\n\n".join(
        _paragraph(part) for part in _PARAGRAPHS.split(inspect.cleandoc(command.help))
    )
    records = [parameter.get_help_record(context) for parameter in command.params]
    page.options = [(left, escaped(" ".join(right.split()))) for left, right in filter(None, records)]
    page.commands = [(word, escaped(_short(inner))) for word, inner in _commands(command).items()]
    text = _TITLE.sub(_title(name, page), str(page)).replace(".SH COMMANDS\n.PP\n", ".SH COMMANDS\n")
    return (_with_headings(text) if name == "kohort" else text) + _see_also(name)


def _title(name: str, page: ManPage) -> str:
    """click-man writes the name with blanks, by which `man` does not find it."""
    return f'.TH "{name.upper().replace(" ", "-")}" "1" "{page.date}" "{page.version}" "Kohort"'


def _see_also(name: str) -> str:
    words = name.split()
    above = [r"\-".join(words[:count]) for count in range(1, len(words))]
    return ".SH SEE ALSO\n" + ", ".join(rf"\fB{title}\fP(1)" for title in above) + "\n" if above else ""


def _short(command: Any) -> str:
    return summary(command).rstrip(".")


def _with_headings(text: str) -> str:
    for heading, commands in SECTIONS.items():
        first = rf"\fB{next(iter(commands))}\fP" + "\n"
        for before in (".PP\n", ".SH COMMANDS\n"):
            kept = before.removeprefix(".PP\n")
            text = text.replace(before + first, f'{kept}.SS "{heading}"\n{first}')
    return text


def _paragraph(text: str) -> str:
    """As Typer shows it: lines after a \\b stay as they are."""
    if text.startswith("\b"):
        kept = "\n".join(map(escaped, text[1:].strip("\n").splitlines()))
        return f".nf\n{kept}\n.fi"
    return escaped(" ".join(text.split()))


def escaped(text: str) -> str:
    """A line of text as roff takes it: its backslashes, hyphens that are typed, and no request at its beginning."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text.startswith((".", "'")) else text


def write(directory: Path) -> list[Path]:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    written = []
    for name, text in pages().items():
        (directory / name).write_text(text, encoding="utf-8")
        written.append(directory / name)
    return written


if __name__ == "__main__":
    print(f"{len(write(Path(sys.argv[1])))} pages in {sys.argv[1]}")
