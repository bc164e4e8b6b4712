"""The completion scripts: an engine written for each shell, and tables of what may stand where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files

from cli.verbs.completion.grammar import Command
from cli.verbs.completion.question import SOURCE_OPTIONS

MARK = "# TABLES\n"
"""Where the tables stand in an engine."""


def script(shell: str, programs: Sequence[Command]) -> str:
    """The whole script; KeyError for a shell that is not known."""
    engine = files("cli.verbs.completion").joinpath(f"engine.{shell}").read_text(encoding="utf-8")
    return engine.replace(MARK, "\n".join(_TABLES[shell](programs)) + "\n")


def _commands(programs: Iterable[Command]) -> list[Command]:
    return [command for program in programs for command in program.walk()]


def _values(programs: Iterable[Command]) -> dict[str, str]:
    """`PATH OPTION` → values; `* OPTION` where every command that has the option has the same."""
    by_option: dict[str, dict[str, str]] = {}
    for command in _commands(programs):
        for option in command.options:
            for name in option.names:
                by_option.setdefault(name, {})[command.path] = option.value_text
    table: dict[str, str] = {}
    for option_name, by_path in sorted(by_option.items()):
        texts = set(by_path.values())
        if len(texts) == 1:
            table[f"* {option_name}"] = texts.pop()
        else:
            table |= {f"{path} {option_name}": text for path, text in by_path.items()}
    return {key: text for key, text in table.items() if text}


def _long_source_options(programs: Iterable[Command]) -> dict[str, str]:
    """Every spelling of an option that says where groups come from, and its long form."""
    return {
        name: option.name
        for command in _commands(programs)
        for option in command.options
        if option.name in SOURCE_OPTIONS
        for name in option.names
    }


def _options(command: Command) -> Iterable[tuple[str, str]]:
    """What is offered, a `*` behind what may be repeated; and its description."""
    return [(option.name + "*" * option.repeatable, option.help) for option in command.options]


def _posix(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _arguments(command: Command) -> list[str]:
    """Values of each argument; a `+` before the last one where it may be repeated."""
    texts = [values.text for values in command.arguments]
    if command.more:
        texts[-1] = f"+{texts[-1]}"
    return texts


def _bash(programs: Sequence[Command]) -> Iterable[str]:
    return _posix_tables(programs, lambda name, _: _posix(name))


def _zsh(programs: Sequence[Command]) -> Iterable[str]:
    return _posix_tables(programs, lambda name, help_text: _posix(f"{name}:{help_text}"))


def _posix_tables(programs: Sequence[Command], shown: Callable[[str, str], str]) -> Iterable[str]:
    yield "_kohort_spec() {"
    yield "  commands=() options=() arguments=()"
    yield "  case $1 in"
    for command in _commands(programs):
        yield f"    {_posix(command.path)})"
        if command.commands:
            words = (shown(each.words[-1], each.help) for each in command.commands)
            yield f"      commands=({' '.join(words)})"
        yield f"      options=({' '.join(shown(*option) for option in _options(command))})"
        if command.arguments:
            yield f"      arguments=({' '.join(map(_posix, _arguments(command)))})"
        yield "      ;;"
    yield "    *) return 1 ;;"
    yield "  esac"
    yield "}"
    yield ""
    yield "_kohort_value() {"
    yield '  case "$1 $2" in'
    for key, text in _values(programs).items():
        path, _, option = key.rpartition(" ")
        pattern = f"*{_posix(' ' + option)}" if path == "*" else _posix(key)
        yield f"    {pattern}) value={_posix(text)} ;;"
    yield "    *) value='' ;;"
    yield "  esac"
    yield "}"
    yield ""
    yield "_kohort_source() {"
    yield "  case $1 in"
    for name, long in _long_source_options(programs).items():
        yield f"    {name}) source={long} ;;"
    yield "    *) source='' ;;"
    yield "  esac"
    yield "}"


def _fish_tables(programs: Sequence[Command]) -> Iterable[str]:
    yield "function __kohort_spec"
    yield "    set -g __kohort_commands"
    yield "    set -g __kohort_options"
    yield "    set -g __kohort_arguments"
    yield "    switch $argv[1]"
    for command in _commands(programs):
        yield f"        case {_fish(command.path)}"
        if command.commands:
            words = (_fish(f"{each.words[-1]}\t{each.help}") for each in command.commands)
            yield f"            set __kohort_commands {' '.join(words)}"
        options = (_fish(f"{name}\t{help_text}") for name, help_text in _options(command))
        yield f"            set __kohort_options {' '.join(options)}"
        if command.arguments:
            yield f"            set __kohort_arguments {' '.join(map(_fish, _arguments(command)))}"
    yield "        case '*'"
    yield "            return 1"
    yield "    end"
    yield "end"
    yield ""
    yield "function __kohort_value"
    yield '    switch "$argv[1] $argv[2]"'
    for key, text in _values(programs).items():
        yield f"        case {_fish(key)}"
        yield f"            echo {_fish(text)}"
    yield "    end"
    yield "end"
    yield ""
    yield "function __kohort_source"
    yield "    switch $argv[1]"
    for name, long in _long_source_options(programs).items():
        yield f"        case {name}"
        yield f"            echo -- {long}"
    yield "    end"
    yield "end"


_TABLES: Mapping[str, Callable[[Sequence[Command]], Iterable[str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish_tables,
}
SHELLS = tuple(_TABLES)
