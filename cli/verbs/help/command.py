"""`kohort help`: topics, the glossary, and the help of commands."""

import io
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from importlib.resources import files
from typing import Annotated, Any

import typer

from cli.errors import UsageError
from cli.options import option


class HelpFormat(Enum):
    """How a text is printed."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def help_(
    *,
    context: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TOPIC]…", help="A topic, a term of the glossary, or the words of a command."
        ),
    ] = None,
    output: Annotated[HelpFormat, option("--output -o", "How to print a topic.")] = HelpFormat.TEXT,
) -> None:
    """Explain a concept, or show the help of a command.

    Without a topic, lists the topics; as JSON, also all commands with their options.

    \b
    Examples:
      kohort help consumer lag
      kohort help offsets reset
    """
    from cli.output import write_out

    text = explanation(context, topic or [], output.value)
    write_out(lambda out: out.write(text))


def explanation(context: typer.Context, words: Sequence[str], form: str) -> str:
    """The text to print, as `text`, `markdown` or `json`. UsageError if there is no such topic, term or command."""
    pages = {name: page_source(name) for name in page_names()}
    if not words:
        return _as_json(pages, context) if form == "json" else _contents(pages, form)
    command = _command_help(context, words)
    if command is None:
        pages = {**pages, **terms(), **pages}  # topics come first, and override terms of the same name
        name = "-".join(words).lower()
        if name not in pages:
            raise UsageError(_unknown(context, words, list(pages)))
        source = pages[name]
        return _as_json({name: source}) if form == "json" else plain(source) if form == "text" else source
    if form != "text":
        raise UsageError(f"{' '.join(words)} is a command; its help is printed as text only")
    return command


def _contents(pages: Mapping[str, str], form: str) -> str:
    titles = {name: title_of(source) for name, source in pages.items()}
    if form == "markdown":
        return "".join(f"- `kohort help {name}`: {title}\n" for name, title in titles.items())
    width = max(map(len, titles))
    lines = [f"  {name:<{width}}  {title}" for name, title in titles.items()]
    return "\n".join(
        ["Concepts, explained by `kohort help TOPIC`:", "", *lines, "",
         "`kohort help TERM` explains a term of the glossary, such as bounce or zombie.",
         "`kohort help COMMAND` shows the help of a command; `kohort --help` lists them.", ""]
    )  # fmt: skip


def _as_json(pages: Mapping[str, str], context: typer.Context | None = None) -> str:
    """The document of these topics; with a context, also of all commands."""
    from cli.outline import outline_of
    from cli.output import render
    from cli.render.document import Document
    from cli.render.output_format import OutputFormat

    data = [
        {
            "topic": name, "title": title_of(source), "text": plain(source), "commands": commands_in(source),
            "see_also": links_in(source),
        }
        for name, source in pages.items()
    ]  # fmt: skip
    everything: dict[str, object] = {"topics": data}
    if context is not None:
        everything["commands"] = outline_of(context.find_root().command)
    stream = io.StringIO()
    render(Document(command="help", data=everything, blocks=()), OutputFormat.JSON, stream)
    return stream.getvalue()


def _command_help(context: typer.Context, words: Sequence[str]) -> str | None:
    """The help of the command with these words, as its `--help` prints it; None if there is no such command."""
    at: Any = context.find_root()
    for word in words:
        command = getattr(at.command, "commands", {}).get(word)
        if command is None:
            return None
        at = type(at)(command, info_name=word, parent=at)
    text: str = at.get_help()
    return f"{text}\n"


def _unknown(context: typer.Context, words: Sequence[str], topics: Sequence[str]) -> str:
    from difflib import get_close_matches

    commands: Any = context.find_root().command
    names = [*topics]
    for name, command in commands.commands.items():
        names += [name, *(f"{name} {second}" for second in getattr(command, "commands", {}))]
    asked, names = " ".join(words), list(dict.fromkeys(names))
    near = get_close_matches(asked.lower(), names, n=3, cutoff=0.7)
    near += [name for name in names if asked and asked.lower() in name and name not in near][: 3 - len(near)]
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return (
        f"there is no topic, term or command {asked!r}{hint}\n"
        "`kohort help` lists the topics, `kohort --help` the commands"
    )


LINK = re.compile(r"\[([^\]]+)\]\((?:concepts/)?([a-z-]+)\.md\)")
FENCE = "```"


def page_names() -> list[str]:
    """All topics, by name."""
    names = (file.name for file in files("cli.verbs.help").joinpath("concepts").iterdir())
    return sorted(name.removesuffix(".md") for name in names if name.endswith(".md"))


def page_source(name: str) -> str:
    """The markdown of a topic."""
    return files("cli.verbs.help").joinpath("concepts").joinpath(f"{name}.md").read_text(encoding="utf-8")


def glossary() -> str:
    """The markdown of the glossary: a heading for each term; links lead to topics."""
    return files("cli.verbs.help").joinpath("glossary.md").read_text(encoding="utf-8")


def terms() -> dict[str, str]:
    """The terms of the glossary by the name that `kohort help` takes, each as a page."""
    pages = [f"# {entry}".rstrip() + "\n" for entry in glossary().split("\n## ")[1:]]
    return {title_of(page).replace(" ", "-").lower(): page for page in pages}


def title_of(source: str) -> str:
    """The first line, without `#`."""
    return source.partition("\n")[0].removeprefix("# ")


def plain(source: str) -> str:
    """A page as text: without marks, code indented by four columns, links as the topic's name."""
    title = title_of(source)
    lines = [title, "=" * len(title)]
    in_code = False
    for line in source.splitlines()[1:]:
        if line.startswith(FENCE):
            in_code = not in_code
        elif in_code:
            lines.append(f"    {line}")
        else:
            lines.append(LINK.sub(r"\1", line).replace("`", ""))
    return "\n".join(lines) + "\n"


def commands_in(source: str) -> list[str]:
    """The lines of code that run Kohort."""
    in_code, lines = False, []
    for line in source.splitlines():
        if line.startswith(FENCE):
            in_code = not in_code
        elif in_code and line.startswith("kohort"):
            lines.append(line.partition("  #")[0].rstrip())
    return lines


def links_in(source: str) -> list[str]:
    """The topics that a page links to."""
    return list(dict.fromkeys(link.group(2) for link in LINK.finditer(source)))
