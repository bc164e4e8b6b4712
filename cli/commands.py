"""All commands: the modules of their functions, and their sections in the help."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from os.path import dirname
from typing import Any

_PARENT = dirname(dirname(__file__))


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Commands of two words: the summary of the first word, and a function as MODULE:NAME for each second word."""

    summary: str
    commands: Mapping[str, str]


_FAULT = "cli.verbs.fault"
_OFFSETS = "cli.verbs.offsets.command"
_CONTEXT = "cli.verbs.context.command"
_FLEET = "cli.verbs.fleet.command"

SECTIONS: Mapping[str, Mapping[str, str | Family]] = {
    "See groups": {
        "list": "cli.verbs.list:list_groups",
        "lag": "cli.verbs.list:list_lag",
        "describe": "cli.verbs.describe.command:describe",
        "top": "cli.verbs.top.command:top",
        "watch": "cli.verbs.watch.command:watch",
        "diagnose": "cli.verbs.diagnose.command:diagnose",
        "why": "cli.verbs.why.command:why",
        "peek": "cli.verbs.peek.command:peek",
        "snapshot": "cli.verbs.snapshot:snapshot",
        "log": Family(
            summary="Read a broker's own log of groups and offsets.",
            commands={"dump": "cli.verbs.log.command:log_dump", "verify": "cli.verbs.log.command:log_verify"},
        ),
    },
    "Check a change before you make it": {
        "validate-regex": "cli.verbs.validate_regex.command:validate_regex",
        "dry-run": "cli.verbs.dry_run.command:dry_run",
        "what-if": "cli.verbs.what_if.command:what_if",
    },
    "Migrate groups to another protocol": {
        "plan": "cli.verbs.plan.command:plan",
        "gate": "cli.verbs.gate.command:gate",
        "migrate": "cli.verbs.migrate.command:migrate",
        "rehearse": "cli.verbs.rehearse.command:rehearse",
        "bridge": "cli.verbs.bridge.command:bridge",
    },
    "Change groups": {
        "offsets": Family(
            summary="Reset, export, import, clone or delete offsets.",
            commands={
                **{name: f"{_OFFSETS}:{name}" for name in ("reset", "export")},
                "import": f"{_OFFSETS}:load",
                **{name: f"{_OFFSETS}:{name}" for name in ("clone", "delete")},
            },
        ),
        "config": Family(
            summary="Show and change the settings of groups.",
            commands={
                "list": "cli.verbs.config.command:list_settings",
                "get": "cli.verbs.config.command:get",
                "set": "cli.verbs.config.command:set_",
                "unset": "cli.verbs.config.command:unset",
            },
        ),
        "features": Family(
            summary="Show and change the features of a cluster.",
            commands={
                "list": "cli.verbs.features.command:list_features",
                "set": "cli.verbs.features.command:set_",
            },
        ),
        "members": Family(
            summary="Remove members from groups.", commands={"remove": "cli.verbs.members.command:remove"}
        ),
        "delete": "cli.verbs.delete.command:delete",
        "apply": "cli.verbs.apply.command:apply",
        "journal": "cli.verbs.journal.command:journal",
        "undo": "cli.verbs.undo.command:undo",
    },
    "Monitor and analyze many groups": {
        "exporter": "cli.verbs.exporter.command:exporter",
        "record": "cli.verbs.record.command:record",
        "mcp": "cli.verbs.mcp.command:mcp",
        "fleet": Family(
            summary="Analyze thousands of groups with Apache Spark.",
            commands={
                name: f"{_FLEET}:fleet_{name}"
                for name in ("history", "follow", "audit", "simulate", "rehearse")
            }
            | {"what-if": f"{_FLEET}:fleet_what_if"},
        ),
    },
    "Simulate groups, and test clients": {
        "simulate": "cli.verbs.simulate.command:simulate",
        "explore": "cli.verbs.explore:explore",
        "serve": "cli.verbs.serve.command:serve",
        "fault": Family(
            summary="Inject faults into a running kohort serve.",
            commands={
                **{
                    name: f"{_FAULT}:{name}"
                    for name in ("delay", "error", "drop", "expire", "fence", "disconnect")
                },
                **{name: f"{_FAULT}:{name}" for name in ("move", "crash", "topic")},
                "list": f"{_FAULT}:list_rules",
                "clear": f"{_FAULT}:clear",
            },
        ),
    },
    "Set up Kohort, and get help": {
        "demo": "cli.verbs.demo.command:demo",
        "context": Family(
            summary="Manage contexts: names for clusters and files.",
            commands={
                "list": f"{_CONTEXT}:list_contexts",
                **{name: f"{_CONTEXT}:{name}" for name in ("show", "use", "add", "remove", "rename")},
            },
        ),
        "completion": "cli.verbs.completion.command:completion",
        "help": "cli.verbs.help.command:help_",
        "version": "cli.verbs.version:version",
    },
}
"""The first words of all commands, in the order and under the headings of the help."""

ARGUMENT_FILLERS: Mapping[str, str] = {
    "cli.verbs.gate.command:gate": "cli.verbs.gate.command:with_default",
    "cli.verbs.describe.command:describe": "cli.verbs.describe.options:with_table",
}
"""Functions that complete the arguments of commands that have an option with an optional value."""


def load(reference: str) -> Callable[..., Any]:
    """Import the function that MODULE:NAME names."""
    module, _, name = reference.partition(":")
    function: Callable[..., object] = getattr(import_module(module), name)
    return function


def first_paragraph(reference: str) -> str:
    """The first paragraph of the docstring of the function that MODULE:NAME names. It is searched in the source of the
    module: to import the modules of all commands takes twice as long as everything else that a list of them needs."""
    module, _, name = reference.partition(":")
    try:
        with open(f"{_PARENT}/{module.replace('.', '/')}.py", encoding="utf-8") as source:
            found = re.search(rf'(?ms)^def {name}\(.*?"""(.*?)(?:\n\n|""")', source.read())
    except OSError:  # Kohort is not installed as files
        found = None
    return found[1] if found else load(reference).__doc__ or ""
