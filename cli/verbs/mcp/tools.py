"""The tools that an agent gets: each is a command of Kohort with some of its parameters, of which schemas follow."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import cast

import typer.main
from typer.core import TyperGroup

from cli.outline import CommandParameter, command_named, parameters_of

MOST_TEXT = 32_767  # Characters of an id or regex: Kafka stores no longer ones
MOST_VALUES = 100
MOST_WORDS = 100_000  # Characters of all arguments: a system runs no longer command lines
MOST = {"seeds": 100, "add": 1_000}  # Below the maxima of the commands
PLAN = "plan"


class CallFailed(Exception):
    """A call that has no document; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class AgentTool:
    command: str  # The words of the command
    summary: str  # For the model: what it answers, and when to ask
    takes: tuple[str, ...]  # The parameters that the model may set, by their JSON names
    document: str = ""  # The command whose document it is, if it is another one

    @property
    def name(self) -> str:
        return self.command.replace(" ", "_").replace("-", "_")


_GROUPS = ("groups", "match", "all_groups")
_FILTERS = ("type", "state", "protocol", "topic")
_CLIENTS = ("client", "regex", "framework", "concurrency", "bounce_seconds")
_TO = ("to_earliest", "to_latest", "to_current", "to_offset", "shift_by", "to_datetime", "by_duration")
_CHANGES = ("add", "remove", "subscribe", "topic_partitions", "rack", "fail_rack")
READING = (
    AgentTool("list", "List consumer groups with type, state, assignor and number of members.",
              ("match", *_FILTERS, "unused_for")),
    AgentTool("lag", "Show the lag of groups, in records and in time, with the total. Which groups are behind?",
              ("groups", "match", *_FILTERS, "only_with_lag"), "list"),
    AgentTool("describe", "Show members, assignments, committed offsets and lag of groups.",
              (*_GROUPS, *_FILTERS, "lag_time", "last_commit", "only_with_lag")),
    AgentTool("diagnose", "Find what is wrong with groups (stuck, lagging, rebalancing), with evidence and remedy. "
              "Observes a live cluster for some seconds. Start here if something does not work.",
              (*_GROUPS, *_FILTERS, "for")),
    AgentTool("why", "Explain why groups rebalanced in a time of the past: who joined, left or crashed, and what was "
              "not read meanwhile.", (*_GROUPS, "since", "until", "at")),
    AgentTool("validate-regex", "Check which topics a subscription regex matches, and what changes from the regex "
              "engine of a client library (from) to that of the broker.", ("patterns", "from")),
    AgentTool("dry-run", "Compute the assignment that a rebalance would make now, also as if members joined or left.",
              (*_GROUPS, *_FILTERS, "assignor", "side", "leader", "compare", *_CHANGES)),
    AgentTool("plan", "Plan the migration of groups to another protocol: blockers, steps, checks, rollback. The plan "
              "of one group can be given to gate and rehearse.",
              (*_GROUPS, *_FILTERS, "to", *_CLIENTS, "offline", "reverse", "assignor")),
    AgentTool("rehearse", "Rehearse a plan on its group in simulated time: the cost of each round, and whether it is "
              "safe.", (PLAN, "seeds", "seed", "stop_at", "mistakes", "set")),
    AgentTool("gate", "Check whether a step of a plan is complete, and the next one can start.",
              (PLAN, "step", "round", "accept_changes")),
    AgentTool("what-if", "Play the past of groups as it might have been, with another protocol, assignor or setting.",
              (*_GROUPS, "protocol", "set", "static", "assignor", "assume", "since", "until", "seeds")),
    AgentTool("journal", "Show which changes were made with Kohort: who changed what, when, and whether it was undone; "
              "with entry, the values before and after of one.", ("entry", "group", "since", "until", "user")),
)  # fmt: skip
CHANGING = (
    AgentTool("offsets reset", "Reset the committed offsets of groups without members.",
              ("groups", "topic", "all_topics", *_TO)),
    AgentTool("offsets delete", "Delete the committed offsets of a topic.", ("groups", "topic", "all_topics")),
    AgentTool("config set", "Set settings of one group, as NAME=VALUE.", ("group", "values")),
    AgentTool("config unset", "Remove settings of one group.", ("group", "names")),
    AgentTool("delete", "Delete groups without members, and their offsets.", ("groups",)),
    AgentTool("members remove", "Remove dead or stuck members from a group.",
              ("group", "member", "instance", "client_id", "host", "all", "reason")),
    AgentTool("undo", "Restore what a change has replaced: the entry of the journal, or the last change of this "
              "cluster.", ("entry", "partly")),
)  # fmt: skip
"""What exists only if the server allows it. Groups are named, never selected by a pattern, so that they can be compared
with what is allowed."""
ALLOWABLE = {tool.command.replace(" ", "-"): tool for tool in CHANGING}
"""By the names that --allow takes."""


def input_schema(tool: AgentTool, more: Mapping[str, object]) -> dict[str, object]:
    """The JSON schema of a tool's arguments: those of the command, with bounds, and `more` of the server."""
    parameters = _parameters(tool)
    required = [name for name, parameter in parameters.items() if _is_required(tool, parameter)]
    return {
        "type": "object",
        "properties": {**{name: _schema(parameter) for name, parameter in parameters.items()}, **more},
        "required": [*required, *(["digest"] if "digest" in more else [])],
        "additionalProperties": False,
    }


def output_schema(tool: AgentTool) -> dict[str, object]:
    """The schema of a tool's document, complete in itself: what it refers to in other files is part of it."""
    own = (tool.document or tool.command).replace(" ", "-")
    definitions: dict[str, object] = {}

    def inlined(value: object, file: str) -> object:
        if isinstance(value, list):
            return [inlined(item, file) for item in value]
        if not isinstance(value, dict):
            return value
        if "$ref" not in value:
            return {key: inlined(item, file) for key, item in value.items()}
        place, _, path = str(value["$ref"]).partition("#/")
        place = place.removesuffix(".json") or file
        name = "-".join([place, *path.split("/")[1:]])
        if name not in definitions:
            definitions[name] = {}  # Definitions may refer to themselves
            at: object = _file(place)
            for step in path.split("/"):
                at = cast("dict[str, object]", at)[step]
            definitions[name] = inlined(at, place)
        return {**value, "$ref": f"#/$defs/{name}"}

    fields = {
        name: inlined(value, own) for name, value in _file(own).items() if name not in ("$defs", "$schema")
    }
    return {**fields, "$defs": definitions}


def words_of(tool: AgentTool, arguments: Mapping[str, object], more: Iterable[str]) -> list[str]:
    """The command line of a call, whose arguments fit the schema, with `more` options. Values can never be options.
    Raises CallFailed: they are too long for a command line."""
    options, values = [*tool.command.split(), *more], ["--"]
    for name, parameter in _parameters(tool).items():
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


@cache
def _parameters_of(command: str) -> dict[str, CommandParameter]:
    from cli.app import app

    root = typer.main.get_command(app)
    if not isinstance(root, TyperGroup):
        raise TypeError(root)
    return {parameter.name: parameter for parameter in parameters_of(command_named(root, command))}


def _parameters(tool: AgentTool) -> dict[str, CommandParameter]:
    parameters = _parameters_of(tool.command)
    return {name: parameters[name] for name in tool.takes}


def _is_required(tool: AgentTool, parameter: CommandParameter) -> bool:
    """Also what a command only requires if nothing else selects the groups."""
    return parameter.required or (parameter.name in ("groups", "patterns") and "match" not in tool.takes)


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


@cache
def _file(name: str) -> dict[str, object]:
    text = files("cli.verbs.mcp").joinpath("docs", "schemas", f"{name}.json").read_text(encoding="utf-8")
    schema: dict[str, object] = json.loads(text)
    return schema
