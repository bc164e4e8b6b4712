"""The tools that an agent gets: each is a command of Kohort with some of its parameters, of which schemas follow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from cli.outline import CommandParameter

MOST_TEXT = 32_767  # Characters of an id or regex: Kafka stores no longer ones
MOST_VALUES = 100
MOST_WORDS = 100_000  # Characters of all arguments: a system runs no longer command lines
PLAN = "plan"
_CHOICE = ("groups", "match", "all_groups")
_FILTERS = ("type", "state", "protocol", "topic")
_PLAN_OPTIONS = (
    "client",
    "regex",
    "framework",
    "concurrency",
    "bounce_seconds",
    "offline",
    "reverse",
    "assignor",
)
_RESET = ("to_earliest", "to_latest", "to_current", "to_offset", "shift_by", "to_datetime", "by_duration")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    command: str  # The words of the command
    summary: str  # For the model: what it answers, and when to ask
    takes: tuple[str, ...]  # The parameters that the model may set, by their JSON names
    document: str = ""  # The command whose document it is, if it is another one
    least: tuple[
        str, ...
    ] = ()  # Parameters that a call must have, although the command does not require them
    bounds: Mapping[str, float] = field(default_factory=dict)  # Maxima below those of the command
    is_change: bool = False

    @property
    def name(self) -> str:
        return self.command.replace(" ", "_").replace("-", "_")


READING = (
    AgentTool(
        command="list",
        summary="List consumer groups with type, state, assignor and number of members.",
        takes=("match", *_FILTERS, "unused_for"),
    ),
    AgentTool(
        command="lag",
        document="list",
        summary="Show the lag of groups, in records and in time, with the total. Which groups are behind?",
        takes=("groups", "match", *_FILTERS, "only_with_lag"),
    ),
    AgentTool(
        command="describe",
        summary="Show members, assignments, committed offsets and lag of groups.",
        takes=(*_CHOICE, *_FILTERS, "lag_time", "last_commit", "only_with_lag"),
    ),
    AgentTool(
        command="diagnose",
        summary="Find what is wrong with groups (stuck, lagging, rebalancing), with evidence and remedy. Observes a "
        "live cluster for some seconds. Start here if something does not work.",
        takes=(*_CHOICE, *_FILTERS, "for"),
    ),
    AgentTool(
        command="why",
        summary="Explain why groups rebalanced in a time of the past: who joined, left or crashed, and what was not "
        "read meanwhile.",
        takes=(*_CHOICE, "since", "until", "at"),
    ),
    AgentTool(
        command="validate-regex",
        summary="Check which topics a subscription regex matches, and what changes from the regex engine of a client "
        "library (from) to that of the broker.",
        takes=("patterns", "from"),
        least=("patterns",),
    ),
    AgentTool(
        command="dry-run",
        summary="Compute the assignment that a rebalance would make now, also as if members joined or left.",
        takes=(
            *_CHOICE, *_FILTERS, "assignor", "side", "leader", "compare",
            "add", "remove", "subscribe", "topic_partitions", "rack", "fail_rack",
        ),
        bounds={"add": 1000},
    ),
    AgentTool(
        command="plan",
        summary="Plan the migration of groups to another protocol: blockers, steps, checks, rollback. The plan of one "
        "group can be given to gate and rehearse.",
        takes=(*_CHOICE, *_FILTERS, "to", *_PLAN_OPTIONS),
    ),
    AgentTool(
        command="rehearse",
        summary="Rehearse a plan on its group in simulated time: the cost of each round, and whether it is safe.",
        takes=(PLAN, "seeds", "seed", "stop_at", "mistakes", "set"),
        bounds={"seeds": 100},
    ),
    AgentTool(
        command="gate",
        summary="Check whether a step of a plan is complete, and the next one can start.",
        takes=(PLAN, "step", "round", "accept_changes"),
    ),
    AgentTool(
        command="what-if",
        summary="Play the past of groups as it might have been, with another protocol, assignor or setting.",
        takes=(*_CHOICE, "protocol", "set", "static", "assignor", "assume", "since", "until", "seeds"),
        bounds={"seeds": 50},
    ),
    AgentTool(
        command="journal",
        summary="Show which changes were made with Kohort: who changed what, when, and whether it was undone; with "
        "entry, the values before and after of one.",
        takes=("entry", "group", "since", "until", "user"),
    ),
)  # fmt: skip
CHANGING = (
    AgentTool(
        command="offsets reset",
        summary="Reset the committed offsets of groups without members.",
        takes=("groups", "topic", "all_topics", *_RESET),
        least=("groups",),
        is_change=True,
    ),
    AgentTool(
        command="offsets delete",
        summary="Delete the committed offsets of a topic.",
        takes=("groups", "topic", "all_topics"),
        least=("groups",),
        is_change=True,
    ),
    AgentTool(
        command="config set",
        summary="Set settings of one group, as NAME=VALUE.",
        takes=("group", "values"),
        is_change=True,
    ),
    AgentTool(
        command="config unset",
        summary="Remove settings of one group.",
        takes=("group", "names"),
        is_change=True,
    ),
    AgentTool(
        command="delete",
        summary="Delete groups without members, and their offsets.",
        takes=("groups",),
        least=("groups",),
        is_change=True,
    ),
    AgentTool(
        command="members remove",
        summary="Remove dead or stuck members from a group.",
        takes=("group", "member", "instance", "client_id", "host", "all", "reason"),
        is_change=True,
    ),
    AgentTool(
        command="undo",
        summary="Restore what a change has replaced: the entry of the journal, or the last change of this cluster.",
        takes=("entry", "partly"),
        is_change=True,
    ),
)
"""What exists only if the server allows it. Groups are named, never selected by a pattern, so that they can be compared
with what is allowed."""


def input_schema(tool: AgentTool) -> dict[str, object]:
    """The JSON schema of a tool's arguments: those of the command, with bounds."""
    parameters = _parameters(tool)
    needed = [name for name, parameter in parameters.items() if parameter.required or name in tool.least]
    return {
        "type": "object",
        "properties": {name: _schema(tool, parameter) for name, parameter in parameters.items()},
        "required": needed,
        "additionalProperties": False,
    }


def output_schema(tool: AgentTool) -> dict[str, object]:
    """The schema of a tool's document, complete in itself: what it refers to in other files is part of it."""
    own = (tool.document or tool.command).replace(" ", "-")
    shared = {name: _read(name) for name in ("definitions", "diagnose", "describe", "config-set")}
    schema = _read(own)
    definitions: dict[str, object] = {}

    def inlined(value: object, file: str) -> object:
        if isinstance(value, list):
            return [inlined(item, file) for item in value]
        if not isinstance(value, dict):
            return value
        reference = value.get("$ref")
        if not isinstance(reference, str):
            return {key: inlined(item, file) for key, item in value.items()}
        place, _, path = reference.partition("#/")
        place = place.removesuffix(".json") or file
        name = "-".join([place, *path.split("/")[1:]])
        if name not in definitions:
            definitions[name] = {}  # Definitions may refer to themselves
            at: object = shared.get(place, schema)
            for step in path.split("/"):
                at = cast("dict[str, object]", at)[step]
            definitions[name] = inlined(at, place)
        return {**value, "$ref": f"#/$defs/{name}"}

    body = inlined({key: item for key, item in schema.items() if key not in ("$defs", "$schema")}, own)
    return {**cast("dict[str, object]", body), "$defs": definitions}


def words_of(tool: AgentTool, arguments: Mapping[str, object]) -> list[str]:
    """The command line of a call, whose arguments fit the schema; groups and other values can never be options.
    Raises ValueError: they are too long for one."""
    options: list[str] = []
    values: list[str] = []
    for name, parameter in _parameters(tool).items():
        given = arguments.get(name)
        for value in given if isinstance(given, list) else [given]:
            if value is None or value is False:
                continue
            if not parameter.options:
                values.append(str(value))
            elif value is True:
                options.append(parameter.options[0])
            else:
                options.append(f"{parameter.options[0]}={value}")
    words = [*tool.command.split(), *options, "--", *values]
    if sum(map(len, words)) > MOST_WORDS:
        raise ValueError(f"the arguments are longer than {MOST_WORDS:,} characters: ask for less at once")
    return words


@cache
def _parameters_of(command: str) -> dict[str, CommandParameter]:
    import typer.main
    from typer.core import TyperGroup

    from cli.app import app
    from cli.outline import command_named, parameters_of

    root = typer.main.get_command(app)
    if not isinstance(root, TyperGroup):
        raise TypeError(root)
    return {parameter.name: parameter for parameter in parameters_of(command_named(root, command))}


def _parameters(tool: AgentTool) -> dict[str, CommandParameter]:
    parameters = _parameters_of(tool.command)
    return {name: parameters[name] for name in tool.takes}


def _schema(tool: AgentTool, parameter: CommandParameter) -> dict[str, object]:
    if parameter.name == PLAN:
        description = "The plan: its id, as the tool plan reports it, or the whole document."
        return {
            "description": description,
            "anyOf": [{"type": "string", "maxLength": 64}, {"type": "object"}],
        }
    schema: dict[str, object] = {"type": parameter.type}
    if parameter.choices is not None:
        schema["enum"] = list(parameter.choices)
    elif parameter.type == "string":
        schema["maxLength"] = MOST_TEXT
    bounds = [bound for bound in (parameter.maximum, tool.bounds.get(parameter.name)) if bound is not None]
    if bounds:
        schema["maximum"] = min(bounds)
    if parameter.minimum is not None:
        schema["minimum"] = parameter.minimum
    if parameter.repeatable:
        schema = {"type": "array", "items": schema, "minItems": 1, "maxItems": MOST_VALUES}
    return {"description": parameter.summary, **schema}


def _read(name: str) -> dict[str, object]:
    text = files("cli.verbs.mcp").joinpath("schemas").joinpath(f"{name}.json").read_text(encoding="utf-8")
    schema: dict[str, object] = json.loads(text)
    return schema
