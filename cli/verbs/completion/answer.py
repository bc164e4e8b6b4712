"""Answers to a shell on Tab: a script runs `_KOHORT_COMPLETE=SHELL kohort LINE [WORDBREAKS]`, LINE being the command
line up to the cursor. The answer is a line with its kind (`words`, `more`: no space follows, `files`, `directories`),
and a line for each word, with a description after a tab. What cannot be answered in time gets an empty answer."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from typer._click.core import Context, Parameter
from typer._click.shell_completion import CompletionItem, _resolve_context, _resolve_incomplete
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import Typer, get_command

from cli.dropin.flags import Value
from cli.dropin.parse import FLAGS
from cli.verbs.completion.values import Described, Values, values_of

VARIABLE = "_KOHORT_COMPLETE"
LONGEST_HELP = 68

_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})", re.ASCII)


def main(kohort: Typer) -> NoReturn:
    """Answer and exit at once, silently on any error; `kohort` has the commands."""
    with suppress(BaseException):
        terminal = os.dup(sys.stdout.fileno())
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):  # notices of a source are not for the shell, and it must not ask anything
            os.dup2(nothing, stream)
        with suppress(OSError):
            os.setsid()
        line, *breaks = sys.argv[1:]
        answer = answer_of(kohort, line, os.environ[VARIABLE], "".join(breaks)).encode()
        while answer:
            answer = answer[os.write(terminal, answer) :]
    os._exit(0)


def answer_of(kohort: Typer, line: str, shell: str, breaks: str) -> str:
    """The whole answer; `breaks` are the characters at which bash's readline ends a word."""
    words = split_line(line, os.environ, breaks)
    current = words.pop()
    prefix, (kind, items) = complete(kohort, [word.text for word in words], current.text)
    lines = []
    for item in items:
        word = prefix + item.value
        if not word.startswith(current.text) or not word.isprintable():
            continue
        if shell == "bash":
            lines.append(current.rest_for_bash(word))
        else:
            help_text = "".join(
                char if char.isprintable() else " " for char in first_sentence(item.help or "")
            )
            lines.append(f"{word}\t{help_text}")
    return "\n".join([kind, *lines]) + "\n"


def complete(
    kohort: Typer,
    words: Sequence[str],
    current: str,
    names_of: Callable[[Values, Context], Described] = lambda values, context: values.names(context),
) -> tuple[str, tuple[str, Iterable[CompletionItem]]]:
    """Completions of the word `current`: the part of it that stays, and the kind and words of the rest."""
    program, *arguments = words
    command = command_of(kohort, program)
    context = _resolve_context(command, {}, program, list(arguments))
    target, incomplete = _resolve_incomplete(context, arguments, current)
    prefix = current.removesuffix(incomplete)
    if not isinstance(target, Parameter):
        is_known = not (context.args or context._protected_args) or not isinstance(target, TyperGroup)
        return prefix, ("words", target.shell_complete(context, incomplete) if is_known else [])
    if target.param_type_name == "option" and not prefix:
        # click discards a line that ends in an option without its value, with all arguments
        context = _resolve_context(command, {}, program, arguments[:-1])
    values = values_of(context, target)
    if values is None:
        return prefix, ("words", target.shell_complete(context, incomplete))
    if values.several:
        prefix += incomplete[: incomplete.rfind(",") + 1]
    guarded = target.param_type_name == "argument" and "--" not in words
    typed = _typed_arguments(context)
    items = [
        CompletionItem(name + values.suffix, help=described)
        for name, described in sorted(names_of(values, context))
        # Without a `--` before it, a name that begins with a hyphen would be read as an option.
        if name and name not in typed and not (guarded and name.startswith("-"))
    ]
    return prefix, (values.kind, items)


def command_of(kohort: Typer, program: str) -> Any:
    """The commands of a program, found by the path that was typed for it."""
    if os.path.basename(program) == "kohort-consumer-groups":
        return drop_in()
    return get_command(kohort)


def _typed_arguments(context: Context) -> set[str]:
    typed: set[str] = set()
    for parameter in context.command.params:
        if parameter.param_type_name == "argument":
            value = context.params.get(parameter.name or "")
            typed |= {value} if isinstance(value, str) else set(map(str, value or ()))
    return typed


def first_sentence(text: str) -> str:
    """A description next to a name in a list: the first sentence, or as much of it as fits."""
    line = " ".join(text.split("\n\n")[0].split())
    sentence = re.split(r"(?<=[.])\s", line, maxsplit=1)[0].rstrip(".:;")
    if len(sentence) <= LONGEST_HELP:
        return sentence
    return sentence[: LONGEST_HELP - 1].rpartition(" ")[0].rstrip(",;:") + "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word of a command line: its text, the quote open at its end, and the length that bash's readline keeps."""

    text: str
    quote: str
    kept: int

    def rest_for_bash(self, word: str) -> str:
        """The text for readline to append to what it keeps, so that this word becomes `word`."""
        rest = word[self.kept :]
        if self.quote == "'":
            rest = rest.replace("'", "'\\''")
        elif self.quote == '"':
            rest = re.sub(r'([\\"$`])', r"\\\1", rest).replace("!", '"\\!"')
        else:
            return re.sub(r"([^\w@%+=:,./-])", r"\\\1", rest)
        # Readline treats a quote at the start as the open one, and one at the end as the closing one.
        if rest.startswith(self.quote):
            rest = self.quote + rest
        return rest + self.quote if rest.endswith(self.quote) else rest


def split_line(line: str, variables: Mapping[str, str], breaks: str) -> list[Word]:
    """The words of a line as a shell reads it, variables expanded; `breaks` are readline's ends of words."""
    words: list[Word] = []
    text, quote, kept, is_word = "", "", 0, False
    position = 0
    while position < len(line):
        character, following = line[position], line[position + 1 : position + 2]
        variable = _VARIABLE.match(line, position) if quote != "'" else None
        position += 1
        if not quote and character.isspace():
            if is_word:
                words.append(Word(text=text, quote="", kept=0))
            text, kept, is_word = "", 0, False
            continue
        if character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote, kept = character, len(text)
        elif variable:
            text += variables.get(variable[1] or variable[2], "")
            position = variable.end()
        elif character == "\\" and (not quote or (quote == '"' and following in ("$", "`", '"', "\\"))):
            text += following
            position += 1
        elif character == "~" and not is_word and following in ("/", " "):
            text += variables.get("HOME", "~")
        else:
            if not quote and character in breaks:
                kept = len(text) + (character != "@")  # a host's @ is part of the word after it
            text += character
        is_word = True
    return [*words, Word(text=text, quote=quote, kept=kept)]


PROGRAM = "kohort-consumer-groups"

HELP: Mapping[str, str] = {
    "all-groups": "All consumer groups.",
    "all-topics": "All topics that the group has offsets of.",
    "bootstrap-server": "The cluster: HOST:PORT,…",
    "by-duration": "Reset to what was written since PnDTnHnMnS ago.",
    "command-config": "Client properties.",
    "delete": "Delete groups without members.",
    "delete-offsets": "Delete committed offsets of topics.",
    "describe": "Show offsets and lag, members or state of groups.",
    "dry-run": "Show what a reset would do (the default).",
    "execute": "Make the reset.",
    "export": "Print the offsets of a reset as CSV.",
    "from-file": "Reset to the offsets of a CSV file.",
    "group": "A group; repeatable.",
    "help": "Print the usage.",
    "list": "List groups.",
    "members": "Describe members and what they own.",
    "offsets": "Describe offsets and lag (the default).",
    "reset-offsets": "Reset committed offsets.",
    "shift-by": "Shift by N records; back if N < 0.",
    "state": "Show states; with list, only groups in these.",
    "timeout": "How long to wait, in milliseconds.",
    "to-current": "Reset to the committed offset.",
    "to-datetime": "Reset to the first record since YYYY-MM-DDTHH:mm:SS.sss.",
    "to-earliest": "Reset to the first record.",
    "to-latest": "Reset to the end of the log.",
    "to-offset": "Reset to this offset.",
    "topic": "A topic, or topic:0,1; repeatable.",
    "type": "Show types; with list, only groups of these.",
    "validate-regex": "Check a regex with the broker's engine.",
    "verbose": "Describe with epochs, targets and assignments.",
    "version": "Print the version.",
}
METAVARS: Mapping[str, str] = {
    "command-config": "FILE",
    "from-file": "FILE",
    "group": "GROUP",
    "topic": "TOPIC",
}
REPEATABLE = ("group", "topic")


def drop_in() -> TyperCommand:
    """The flags as Typer's options, with the kinds of their values."""
    options = [
        TyperOption(
            param_decls=[f"--{flag}", flag.replace("-", "_")],
            help=HELP[flag],
            is_flag=value is Value.NONE,
            default=False if value is Value.NONE else None,
            required=False,
            metavar=METAVARS.get(flag),
            multiple=flag in REPEATABLE,
        )
        for flag, value in FLAGS.items()
    ]
    return TyperCommand(PROGRAM, params=list(options), add_help_option=False)
