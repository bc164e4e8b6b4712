"""The tools that an agent gets: each is a command of Kohort, whose help and parameters describe it."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast

import typer.main
from typer.core import TyperCommand, TyperGroup

from cli.options import CLUSTERS_PANEL, OUTPUT_PANEL, SOURCE_PANEL
from cli.outline import CommandParameter, command_named, parameters_of

MOST_TEXT = 32_767  # Characters of an id or regex: Kafka stores no longer ones
MOST_VALUES = 100
MOST_WORDS = 100_000  # Characters of all arguments: a system runs no longer command lines
MOST = {"seeds": 100, "add": 1_000}  # Below the maxima of the commands
PLAN = "plan"
_SERVER_PANELS = (SOURCE_PANEL, CLUSTERS_PANEL, OUTPUT_PANEL)
_SERVER_NAMES = ("verbose", "watch", "wait", "jobs", "no_notes", "story")
_FILE = re.compile(r'"([a-z-]+)\.json#')
_DEFINITION = re.compile(r'"#/\$defs/([\w-]+)')
_OUTSIDE = re.compile("FILE|DIR|URL|HOST|COMMAND")


class CallFailed(Exception):
    """A call that has no document; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class AgentTool:
    command: str  # The words of the command
    takes: tuple[str, ...] | None = (
        None  # Its only arguments, by their JSON names; None: all that are harmless
    )

    @property
    def name(self) -> str:
        return self.command.replace(" ", "_").replace("-", "_")

    @property
    def summary(self) -> str:
        """The help of the command, without its examples."""
        return " ".join((_command(self.command).help or "").partition("\b")[0].split())

    @property
    def parameters(self) -> dict[str, CommandParameter]:
        parameters = {parameter.name: parameter for parameter in parameters_of(_command(self.command))}
        if self.takes is not None:
            return {name: parameters[name] for name in self.takes}
        return {name: parameter for name, parameter in parameters.items() if _is_harmless(parameter)}


_READING = f"list lag describe diagnose why validate-regex dry-run {PLAN} rehearse gate what-if journal"
READING = tuple(map(AgentTool, _READING.split()))
_TO = ("to_earliest", "to_latest", "to_current", "to_offset", "shift_by", "to_datetime", "by_duration")
CHANGING = (
    AgentTool("offsets reset", ("groups", "topic", "all_topics", *_TO)),
    AgentTool("offsets delete", ("groups", "topic", "all_topics")),
    AgentTool("config set", ("group", "values")),
    AgentTool("config unset", ("group", "names")),
    AgentTool("delete", ("groups",)),
    AgentTool("members remove", ("group", "member", "instance", "client_id", "host", "all", "reason")),
    AgentTool("undo", ("entry", "partly")),
)
"""What exists only if the server allows it. Groups are named, never selected by a pattern, so that they can be compared
with what is allowed: a new option of a command is no argument until it is listed here."""
ALLOWABLE = {tool.command.replace(" ", "-"): tool for tool in CHANGING}
"""By the names that --allow takes."""


@cache
def _command(name: str) -> TyperCommand:
    from cli.app import app

    return command_named(cast("TyperGroup", typer.main.get_command(app)), name)


def _is_harmless(parameter: CommandParameter) -> bool:
    """Whether an agent may set it: it names neither a file nor another source, and the server does not set it. A plan
    is not passed as a file."""
    if parameter.name == PLAN:
        return True
    is_inside = parameter.type != "path" and not _OUTSIDE.search(parameter.metavar or "")
    return is_inside and parameter.panel not in _SERVER_PANELS and parameter.name not in _SERVER_NAMES


def input_schema(tool: AgentTool, more: Mapping[str, object]) -> dict[str, object]:
    """The JSON schema of a tool's arguments: those of the command, with bounds, and `more` of the server. Required is
    also what a command only requires if nothing else selects the groups."""
    known, selected = tool.parameters, {"groups", "patterns"} if "match" not in tool.parameters else set()
    required = [name for name, parameter in known.items() if parameter.required or name in selected]
    return {
        "type": "object",
        "properties": {**{name: _schema(parameter) for name, parameter in known.items()}, **more},
        "required": required + ["digest"] * ("digest" in more),
        "additionalProperties": False,
    }


def output_schema(tool: AgentTool) -> dict[str, object]:
    """The schema of a tool's document, complete in itself, with the definitions that it needs."""
    schema, definitions = _schema_file("list" if tool.name == "lag" else tool.command.replace(" ", "-"))
    needed: dict[str, object] = {}
    while names := {*_DEFINITION.findall(json.dumps([schema, needed]))} - needed.keys():
        needed |= {name: definitions[name] for name in names}
    return {**schema, "$defs": needed}


@cache
def _schema_file(name: str) -> tuple[dict[str, object], dict[str, object]]:
    """A schema of docs/, and all definitions: its own, and those of the files that it refers to, as if in one file."""
    text = files("cli.verbs.mcp").joinpath("docs", "schemas", f"{name}.json").read_text(encoding="utf-8")
    schema = json.loads(_FILE.sub('"#', text))
    definitions = schema.pop("$defs", {})
    for file in {*_FILE.findall(text)} - {name}:
        definitions = {**_schema_file(file)[1], **definitions}
    schema.pop("$schema")
    return schema, definitions


def words_of(tool: AgentTool, arguments: Mapping[str, object], more: Iterable[str]) -> list[str]:
    """The command line of a call, whose arguments fit the schema, with `more` options. Values can never be options.
    Raises CallFailed: they are too long for a command line."""
    options, values = [*tool.command.split(), *more], ["--"]
    for name, parameter in tool.parameters.items():
        argument = arguments.get(name)
        for value in argument if isinstance(argument, list) else [argument]:
            if value is None or value is False:
                continue
            if not parameter.options:
                values.append(str(value))
            else:
                options.append(parameter.options[0] if value is True else f"{parameter.options[0]}={value}")
    if sum(map(len, options + values)) > MOST_WORDS:
        raise CallFailed(f"the arguments are longer than {MOST_WORDS:,} characters: ask for less at once")
    return options + values


def _schema(parameter: CommandParameter) -> dict[str, object]:
    if parameter.name == PLAN:
        summary = "The plan: its id, as the tool plan reports it, or the whole document."
        return {"description": summary, "anyOf": [{"type": "string", "maxLength": 64}, {"type": "object"}]}
    schema: dict[str, object] = {"type": parameter.type}
    if parameter.choices is not None:
        schema["enum"] = list(parameter.choices)
    elif parameter.type == "string":
        schema["maxLength"] = MOST_TEXT
    maximum = MOST.get(parameter.name, parameter.maximum)
    schema |= {} if maximum is None else {"maximum": maximum}
    schema |= {} if parameter.minimum is None else {"minimum": parameter.minimum}
    if parameter.repeatable:
        schema = {"type": "array", "items": schema, "minItems": 1, "maxItems": MOST_VALUES}
    return {"description": parameter.summary, **schema}
