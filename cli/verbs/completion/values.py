"""The possible values of options and arguments, by command and option, by option, or by metavar."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cli.errors import CommandError
from groups.model import GroupState, GroupType
from wire.errors import WireError

if TYPE_CHECKING:
    from typer._click.core import Context, Parameter

    from cli.options import SourceOptions
    from cli.sources.source import Source
    from groups.model import Member

LIMIT_VARIABLE = "KOHORT_COMPLETION_MS"
TIME_LIMIT_MS = 500
"""Timeout of a source, in addition to the start of the process. $KOHORT_COMPLETION_MS changes it."""


def limit_ms() -> int:
    """The timeout of a source."""
    chosen = os.environ.get(LIMIT_VARIABLE, "")
    return int(chosen) if chosen.isascii() and chosen.isdecimal() else TIME_LIMIT_MS


Described = Iterable[tuple[str, str]]
"""Names with descriptions."""


def _nothing(_: Context) -> Described:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The possible values: `kind` for the scripts, names, `several` if separated by commas."""

    kind: str = "words"
    names: Callable[[Context], Described] = _nothing
    several: bool = False
    suffix: str = ""

    @property
    def of_source(self) -> bool:
        """Whether the names are read from a source."""
        return self.names in (
            _groups,
            _topics,
            _members,
            _settings,
            _member_ids,
            _instance_ids,
            _client_ids,
            _hosts,
        )


ANY = Values()
"""No completion."""
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


def _of_members(context: Context, value: Callable[[Member], str | None]) -> Described:
    """Values of the members of the named groups, each once."""
    with _source(context) as source:
        members = [
            member
            for group in source.describe(_named_groups(context), offsets=False).items
            for member in group.members
        ]
    return {name: member.client.host or "" for member in members if (name := value(member))}.items()


def _member_ids(context: Context) -> Described:
    return _of_members(context, lambda member: member.id)


def _instance_ids(context: Context) -> Described:
    return _of_members(context, lambda member: member.instance)


def _client_ids(context: Context) -> Described:
    return _of_members(context, lambda member: member.client.id)


def _hosts(context: Context) -> Described:
    return _of_members(context, lambda member: member.client.address or "")


def _settings(context: Context) -> Described:
    """The settings of a group."""
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


def _assignors(_: Context) -> Described:
    from assignors.registry import BUILT_IN

    return [(name, "") for name in {assignor.name for assignor in BUILT_IN}]


def _protocols(context: Context) -> Described:
    return [*((name, "") for name in ("consumer", "connect", "share", "streams")), *_assignors(context)]


def _libraries(_: Context) -> Described:
    from migration.clients import LIBRARIES

    return [(name, "") for name in LIBRARIES]


def _frameworks(_: Context) -> Described:
    from migration.frameworks import FRAMEWORKS

    return [(name, "") for name in FRAMEWORKS]


def _pages(_: Context) -> Described:
    from cli.verbs.help.command import page_names

    return [(name, "") for name in page_names()]


def _worlds(_: Context) -> Described:
    from coordinator.simulation.exploration.worlds import WORLDS

    return [(world.name, world.summary) for world in WORLDS.values()]


def _rules(_: Context) -> Described:
    from coordinator.simulation.exploration.rules import RULES

    return [("all", "each in turn"), *((rule.name, rule.summary) for rule in RULES.values())]


def _simulations_rules(_: Context) -> Described:
    from coordinator.simulation.broken_rules import BROKEN_RULES

    return [(name, "") for name in BROKEN_RULES]


def _simulations_settings(_: Context) -> Described:
    from coordinator.simulation.variants import NAMES

    return [(name, "") for name in NAMES]


def _rehearsals_settings(_: Context) -> Described:
    from migration.rehearsal.simulated_members import NAMES

    return [(name, "") for name in NAMES]


def _varied_settings(context: Context) -> Described:
    from migration.rehearsal.simulated_members import OF_PLANS

    return [*((name, "of the plan") for name in OF_PLANS), *_rehearsals_settings(context)]


def _scenarios(_: Context) -> Described:
    """Scenarios that ship with Kohort, and files."""
    from pathlib import Path

    from coordinator.simulation import random_scenario
    from coordinator.simulation.scenario_file import shipped_names, shipped_scenario

    files = [(file.name, "a file") for file in Path().glob("*.yaml")]
    shipped = [(name, shipped_scenario(name).description) for name in shipped_names()]
    return [*shipped, (random_scenario.NAME, "drawn from the seed"), *files]


def _apis(_: Context) -> Described:
    from coordinator.server.served import apis_with_faults

    return [(name, "") for name in sorted(apis_with_faults())]


def _errors(_: Context) -> Described:
    from wire.errors import ErrorCode

    return [(code.name, "") for code in ErrorCode if code is not ErrorCode.NONE]


def _types(_: Context) -> Described:
    return [(kind.value, "") for kind in GroupType if kind is not GroupType.UNKNOWN]


def _states(_: Context) -> Described:
    return [(state.value, "") for state in GroupState]


def _states_and_groups(context: Context) -> Described:
    """States, and also groups, because the option can be used without a value to select a table."""
    groups: list[tuple[str, str]] = []
    with suppress(CommandError, WireError):
        groups += _groups(context)
    return [*_states(context), *groups]


GROUPS = Values(names=_groups)
TOPICS = Values(names=_topics)
MEMBER = Values(names=_members, kind="more", suffix="=")
CONTEXTS = Values(names=_contexts)
STATES = Values(names=_states, several=True)
TYPES = Values(names=_types, several=True)

SCENARIOS = Values(names=_scenarios)
SETTING = Values(names=_simulations_settings, kind="more", suffix="=")
RULES = Values(names=_simulations_rules)

BY_COMMAND: Mapping[str, Values] = {
    "kohort describe --state": Values(names=_states_and_groups, several=True),
    "kohort dry-run --assignor": Values(names=_assignors),
    "kohort plan --assignor": Values(names=_assignors),
    "kohort plan --client": Values(names=_libraries),
    "kohort plan --framework": Values(names=_frameworks),
    "kohort fleet audit --client": Values(names=_libraries),
    "kohort fleet rehearse --client": Values(names=_libraries),
    "kohort config get NAME": Values(names=_settings),
    "kohort config unset NAME": Values(names=_settings),
    "kohort config set NAME=VALUE": Values(names=_settings, kind="more", suffix="="),
    "kohort context use NAME": CONTEXTS,
    "kohort context show NAME": CONTEXTS,
    "kohort context rename NAME": CONTEXTS,
    "kohort context remove NAME": CONTEXTS,
    "kohort log dump --group": ANY,  # the groups of a source are not those in the files
    "kohort log dump --key-type": ANY,
    "kohort log dump FILE": FILES,
    "kohort fault clear ID": ANY,
    "kohort fault delay --api": Values(names=_apis),
    "kohort fault drop --api": Values(names=_apis),
    "kohort fault error --api": Values(names=_apis),
    "kohort fault error ERROR": Values(names=_errors),
    "kohort fault expire MEMBER": Values(names=_members),
    "kohort fault fence MEMBER": Values(names=_members),
    "kohort members remove --member": Values(names=_member_ids),
    "kohort members remove --instance": Values(names=_instance_ids),
    "kohort members remove --client-id": Values(names=_client_ids),
    "kohort members remove --host": Values(names=_hosts),
    "kohort help TOPIC": Values(names=_pages),
    "kohort serve --topic": ANY,
    "kohort serve --scenario": SCENARIOS,
    "kohort simulate SCENARIO": SCENARIOS,
    "kohort simulate --set": SETTING,
    "kohort simulate --break": RULES,
    "kohort fleet simulate SCENARIO…": SCENARIOS,
    "kohort fleet simulate --vary": SETTING,
    "kohort fleet rehearse --vary": Values(names=_varied_settings, kind="more", suffix="="),
    "kohort rehearse --set": Values(names=_rehearsals_settings, kind="more", suffix="="),
    "kohort fleet simulate --break": RULES,
    "kohort explore WORLD": Values(names=_worlds),
    "kohort explore --break": Values(names=_rules),
    "kohort-consumer-groups --state": STATES,
    "kohort-consumer-groups --type": TYPES,
}
"""Values by `PATH OPTION` or `PATH METAVAR`."""

BY_OPTION: Mapping[str, Values] = {"--context": CONTEXTS, "--confirm": CONTEXTS, "--to-context": CONTEXTS}
"""Values of options with the same meaning in every command."""

BY_METAVAR: Mapping[str, Values] = {
    "GROUP": GROUPS,
    "FROM": GROUPS,
    "TO": GROUPS,
    "TOPIC": TOPICS,
    "TOPIC[:0,1]": TOPICS,
    "TOPIC,…": Values(names=_topics, several=True),
    "TYPE,…": TYPES,
    "STATE,…": STATES,
    "PROTOCOL,…": Values(names=_protocols, several=True),
    "TOPIC=N": Values(names=_topics, kind="more", suffix="="),
    "SOURCE=TARGET": Values(names=_topics, kind="more", suffix="="),
    "MEMBER": Values(names=_members),
    "MEMBER=TOPIC,…": MEMBER,
    "MEMBER=RACK": MEMBER,
    "FILE": FILES,
    "JAR,…": FILES,
    "[MEMBER|LIBRARY=]FILE": FILES,
    "PLAN": FILES,
    "DIR": DIRECTORIES,
}
"""Values by metavar, without its dots and brackets."""
