"""The possible values of options and arguments, by command and option, by option, or by metavar."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from cli.errors import CommandError
from cli.options import OF_CLUSTERS
from groups.model import GroupState, GroupType
from wire.errors import WireError

if TYPE_CHECKING:
    from typer._click.core import Context, Parameter

    from cli.options import SourceOptions
    from cli.sources.source import Source
    from groups.model import Member

LIMIT_VARIABLE = "KOHORT_COMPLETION_MS"
TIME_LIMIT_MS = 500  # Timeout of a source, after the process has started; see LIMIT_VARIABLE


def limit_ms() -> int:
    chosen = os.environ.get(LIMIT_VARIABLE, "")
    return int(chosen) if chosen.isascii() and chosen.isdecimal() else TIME_LIMIT_MS


Described: TypeAlias = Iterable[tuple[str, str]]  # Names with descriptions
Names: TypeAlias = "Callable[[Context], Described]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The possible values: `kind` for the scripts, names, `several` if separated by commas."""

    kind: str = "words"
    names: Names = lambda _: ()
    several: bool = False
    suffix: str = ""
    of_source: bool = False  # Whether the names are read from a source


ANY = Values()  # No completion
FILES = Values(kind="files")
DIRECTORIES = Values(kind="directories")


def values_of(context: Context, parameter: Parameter) -> Values | None:
    """The possible values of a parameter; None if its type provides them."""
    if getattr(parameter.type, "choices", None):
        return None
    path = context.command_path
    option = max(parameter.opts, key=len) if parameter.param_type_name == "option" else ""
    metavar = (parameter.metavar or "").strip("…")
    bare = metavar.removeprefix("[").removesuffix("]") if metavar.startswith("[") else metavar
    for table, key in (
        (BY_COMMAND, f"{path} {option or bare}"),
        (BY_OPTION, option),
        (BY_METAVAR, parameter.metavar or ""),
        (BY_METAVAR, metavar),
        (BY_METAVAR, bare),
    ):
        if key in table:
            values = table[key]
            has_source = any("--bootstrap-server" in param.opts for param in context.command.params)
            return ANY if values.of_source and not has_source else values
    return ANY


@contextmanager
def _source(context: Context) -> Iterator[Source]:
    """The source of the typed options, completed by the environment and contexts. The process exits at the timeout."""
    from threading import Timer

    from cli.selection import source_of
    from cli.sources.contexts.resolve import resolve_source

    alarm = Timer(limit_ms() / 1000, os._exit, (0,))
    alarm.start()
    options = resolve_source(typed_options(context.params, limit_ms()), timeout_is_typed=True)
    with closing(source_of(options)) as source:
        yield source
        alarm.cancel()


def typed_options(parameters: Mapping[str, Any], timeout_ms: int) -> SourceOptions:
    """The options of a source among click's parameters of a command line."""
    from pathlib import Path

    from cli.options import SourceOptions

    def file(name: str) -> Path | None:
        return None if parameters.get(name) is None else Path(parameters[name])

    return SourceOptions(
        bootstrap_server=parameters.get("bootstrap_server"),
        command_config=file("command_config"),
        snapshot=file("snapshot"),
        embedded=file("embedded"),
        log_dirs=[Path(directory) for directory in parameters.get("log_dirs") or ()] or None,
        as_of=parameters.get("as_of"),
        topics_file=file("topics_file"),
        context=parameters.get("context"),
        timeout_ms=timeout_ms,
    )


def _groups(context: Context) -> Described:
    from cli.sources.wire_source import WireSource
    from wire.client.groups import list_groups

    with _source(context) as source:
        if isinstance(source, WireSource):
            # A list for people also contains member counts, which need a request for every group.
            return [
                (listed.group_id, ", ".join(filter(None, (listed.group_type, listed.group_state))))
                for listed in list_groups(source.client).groups
            ]
        return [
            (group.id, f"{group.type.value.capitalize()}, {group.state.value}")
            for group in source.list_groups().items
        ]


def _entries(context: Context) -> Described:
    from pathlib import Path

    from cli.journal.directory import journal_directory
    from cli.journal.reader import read_journal
    from cli.verbs.journal.view import target_text

    named = context.params.get("journal")
    directory = journal_directory(None if named is None else Path(named))
    entries = [] if directory is None else read_journal(directory)[0]
    return [(entry.id, f"{entry.verb} of {target_text(entry)}") for entry, _ in entries]


def _topics(context: Context) -> Described:
    from cli.sources.wire_source import WireSource

    with _source(context) as source:
        if isinstance(source, WireSource):
            topics = source.client.metadata().topics
            sizes = {name: len(topic.partitions) for name, topic in topics.items()}
        else:
            sizes = {topic.name: topic.partitions for topic in source.topics(None, end_offsets=False).items}
    return [(name, f"{size} partition{'' if size == 1 else 's'}") for name, size in sizes.items()]


def _members(context: Context) -> Described:
    """Members of the named groups; static members by instance id, which stays the same after a restart."""
    with _source(context) as source:
        return [
            (member.instance or member.id, " ".join(filter(None, (member.client.id, member.client.host))))
            for group in source.describe(_named_groups(context), offsets=False).items
            for member in group.members
        ]


def _of_members(value: Callable[[Member], str | None]) -> Values:
    def names(context: Context) -> Described:
        with _source(context) as source:
            groups = source.describe(_named_groups(context), offsets=False).items
        members = (member for group in groups for member in group.members)
        return {name: member.client.host or "" for member in members if (name := value(member))}.items()

    return Values(names=names, of_source=True)


def _settings(context: Context) -> Described:
    from cli.verbs.config.action import known_configs

    with _source(context) as source:
        settings = known_configs(source, _named_groups(context)[0])
        return [(name, f"now {setting.value}") for name, setting in settings.items()]


def _named_groups(context: Context) -> list[str]:
    named = context.params.get("groups") or context.params.get("group") or ()
    return [named] if isinstance(named, str) else list(dict.fromkeys(named))


def _contexts(_: Context) -> Described:
    from cli.sources.contexts.read import load_contexts

    contexts = load_contexts()
    return [] if contexts is None else [(name, contexts.by_name[name].place) for name in contexts.by_name]


def _names_in(module: str, collection: str) -> Names:
    """The names in a collection of a module, or that a function returns; imported when they are requested."""

    def names(_: Context) -> Described:
        found = getattr(import_module(module), collection)
        return [(name, "") for name in (found() if callable(found) else found)]

    return names


_rehearsals_settings = _names_in("migration.rehearsal.simulated_members", "NAMES")


def _summaries(module: str, collection: str, *more: tuple[str, str]) -> Names:
    return lambda _: [
        *more,
        *((item.name, item.summary) for item in getattr(import_module(module), collection).values()),
    ]


def _assignors(_: Context) -> Described:
    from assignors.registry import BUILT_IN

    return {assignor.name: "" for assignor in BUILT_IN}.items()


def _varied_settings(context: Context) -> Described:
    from migration.rehearsal.simulated_members import OF_PLANS

    return [*((name, "of the plan") for name in OF_PLANS), *_rehearsals_settings(context)]


def _scenarios(_: Context) -> Described:
    from pathlib import Path

    from coordinator.simulation import random_scenario
    from coordinator.simulation.scenario_file import shipped_names, shipped_scenario

    files = [(file.name, "a file") for file in Path().glob("*.yaml")]
    shipped = [(name, shipped_scenario(name).description) for name in shipped_names()]
    return [*shipped, (random_scenario.NAME, "drawn from the seed"), *files]


def _features(_: Context) -> Described:
    from groups.features import MEANINGS, METADATA_VERSION

    return [(name, "") for name in (*MEANINGS, METADATA_VERSION)]


def _releases(_: Context) -> Described:
    from groups.features import releases

    return [(release, "") for release in releases()]


def _errors(_: Context) -> Described:
    from wire.errors import ErrorCode

    return [(code.name, "") for code in ErrorCode if code is not ErrorCode.NONE]


def _states_and_groups(context: Context) -> Described:
    """States, and also groups, because the option can be used without a value to select a table."""
    groups: list[tuple[str, str]] = []
    with suppress(CommandError, WireError):
        groups += _groups(context)
    return [*STATES.names(context), *groups]


GROUPS = Values(names=_groups, of_source=True)
TOPICS = Values(names=_topics, of_source=True)
MEMBERS = Values(names=_members, of_source=True)
MEMBER_OF = replace(MEMBERS, kind="more", suffix="=")
TOPIC_OF = replace(TOPICS, kind="more", suffix="=")
CONTEXTS = Values(names=_contexts)
STATES = Values(names=lambda _: [(state.value, "") for state in GroupState], several=True)
TYPES = Values(
    names=lambda _: [(kind.value, "") for kind in GroupType if kind.value != "unknown"], several=True
)
PROTOCOLS = Values(
    names=lambda context: [
        *dict.fromkeys(("consumer", "connect", "share", "streams"), "").items(),
        *_assignors(context),
    ],
    several=True,
)
APIS = Values(names=_names_in("coordinator.server.served", "apis_with_faults"))
SETTINGS = Values(names=_settings, of_source=True)
ASSIGNORS = Values(names=_assignors)
LIBRARIES = Values(names=_names_in("migration.clients", "LIBRARIES"))
SCENARIOS = Values(names=_scenarios)
VARIANTS = Values(names=_names_in("coordinator.simulation.variants", "NAMES"), kind="more", suffix="=")
COSTED_PROTOCOLS = Values(
    names=lambda _: [(name, "") for name in ("eager", "cooperative", "consumer")], several=True
)
RULES = Values(names=_names_in("coordinator.simulation.broken_rules", "BROKEN_RULES"))
EXPLORATION = "coordinator.simulation.exploration"

BY_COMMAND: Mapping[str, Values] = {
    "kohort describe --state": Values(names=_states_and_groups, several=True, of_source=True),
    **dict.fromkeys(("kohort dry-run --assignor", "kohort plan --assignor"), ASSIGNORS),
    **{f"kohort {verb} --client": LIBRARIES for verb in ("plan", "fleet audit", "fleet rehearse")},
    "kohort plan --framework": Values(names=_names_in("migration.frameworks", "FRAMEWORKS")),
    "kohort config get NAME": SETTINGS,
    "kohort config unset NAME": SETTINGS,
    "kohort config set NAME=VALUE": replace(SETTINGS, kind="more", suffix="="),
    "kohort features set FEATURE=LEVEL": Values(names=_features, kind="more", suffix="="),
    "kohort features set --release-version": Values(names=_releases),
    **{f"kohort context {verb} NAME": CONTEXTS for verb in ("use", "show", "rename", "remove")},
    "kohort mcp --contexts": replace(CONTEXTS, several=True),
    "kohort mcp --allow": Values(names=_names_in("cli.verbs.mcp.tools", "ALLOWABLE"), several=True),
    "kohort log dump --group": ANY,  # the groups of a source are not those in the files
    "kohort log dump --key-type": ANY,
    "kohort log dump FILE": FILES,
    "kohort fault clear ID": ANY,
    **{f"kohort fault {kind} --api": APIS for kind in ("delay", "drop", "error")},
    "kohort fault error ERROR": Values(names=_errors),
    **dict.fromkeys(("kohort fault expire MEMBER", "kohort fault fence MEMBER"), MEMBERS),
    "kohort members remove --member": _of_members(lambda member: member.id),
    "kohort members remove --instance": _of_members(lambda member: member.instance),
    "kohort members remove --client-id": _of_members(lambda member: member.client.id),
    "kohort members remove --host": _of_members(lambda member: member.client.address or ""),
    "kohort help TOPIC": Values(names=_names_in("cli.verbs.help.command", "page_names")),
    "kohort serve --topic": ANY,
    **{
        f"kohort {what}": SCENARIOS
        for what in ("serve --scenario", "simulate SCENARIO", "fleet simulate SCENARIO…")
    },
    **dict.fromkeys(
        (
            "kohort simulate --set",
            "kohort fleet simulate --vary",
            *(
                f"kohort {verb} {option}"
                for verb in ("what-if", "fleet what-if")
                for option in ("--set", "--assume")
            ),
        ),
        VARIANTS,
    ),
    **{
        f"kohort {verb} --assignor": replace(ASSIGNORS, several=True) for verb in ("what-if", "fleet what-if")
    },
    **{f"kohort {verb} --protocol": COSTED_PROTOCOLS for verb in ("what-if", "fleet what-if")},
    **dict.fromkeys(("kohort simulate --break", "kohort fleet simulate --break"), RULES),
    "kohort fleet rehearse --vary": Values(names=_varied_settings, kind="more", suffix="="),
    "kohort rehearse --set": Values(names=_rehearsals_settings, kind="more", suffix="="),
    "kohort explore WORLD": Values(names=_summaries(f"{EXPLORATION}.worlds", "WORLDS")),
    "kohort explore --break": Values(
        names=_summaries(f"{EXPLORATION}.rules", "RULES", ("all", "each in turn"))
    ),
    **{f"kohort {verb} --context": replace(CONTEXTS, several=True) for verb in OF_CLUSTERS},
    "kohort list --compare": CONTEXTS,
    **{f"kohort {verb} ID": Values(names=_entries) for verb in ("journal", "undo")},
    "kohort-consumer-groups --state": STATES,
    "kohort-consumer-groups --type": TYPES,
}
"""Values by `PATH OPTION` or `PATH METAVAR`."""

BY_OPTION: Mapping[str, Values] = {
    **dict.fromkeys(("--context", "--confirm", "--to-context"), CONTEXTS),
    "--setting": Values(names=_names_in("groups.streams_tasks", "SETTINGS"), kind="more", suffix="="),
}
"""Values of options with the same meaning in every command."""

BY_METAVAR: Mapping[str, Values] = {
    "GROUP": GROUPS,
    "FROM": GROUPS,
    "TO": GROUPS,
    "TOPIC": TOPICS,
    "TOPIC[:0,1]": TOPICS,
    "TOPIC,…": replace(TOPICS, several=True),
    "TYPE,…": TYPES,
    "STATE,…": STATES,
    "PROTOCOL,…": PROTOCOLS,
    "TOPIC=N": TOPIC_OF,
    "TOPIC:PARTITION": replace(TOPIC_OF, suffix=":"),
    "SOURCE=TARGET": TOPIC_OF,
    "MEMBER": MEMBERS,
    "MEMBER=TOPIC,…": MEMBER_OF,
    "MEMBER=RACK": MEMBER_OF,
    "FILE": FILES,
    "JAR,…": FILES,
    "[MEMBER|LIBRARY=]FILE": FILES,
    "PLAN": FILES,
    "DIR": DIRECTORIES,
}
"""Values by metavar, without its dots and brackets."""
