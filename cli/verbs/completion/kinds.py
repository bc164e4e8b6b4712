"""What the values of options and arguments are: known by command and option, by option, or by metavar."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cli.verbs.completion.grammar import ANY, DIRECTORIES, FILES, Values
from groups.model import GroupState, GroupType


def ask(kind: str) -> Values:
    """Names that a source knows."""
    return Values(way="ask", known=(kind,))


def _types() -> Values:
    return Values(way="list", known=tuple(each.value for each in GroupType if each is not GroupType.UNKNOWN))


def _states() -> Values:
    return Values(way="list", known=tuple(state.value for state in GroupState))


def _assignors() -> Values:
    from assignors.registry import built_in

    return Values(way="words", known=tuple(sorted({assignor.name for assignor in built_in()})))


def _protocols() -> Values:
    return Values(way="list", known=("consumer", "connect", "share", "streams", *_assignors().known))


def _libraries() -> Values:
    from migration.clients import LIBRARIES

    return Values(way="words", known=tuple(sorted(LIBRARIES)))


def _explained() -> Values:
    from cli.verbs.help.concepts.pages import page_names

    return Values(way="words", known=tuple(page_names()))


BY_COMMAND: Mapping[str, Callable[[], Values]] = {
    "kohort list --type": _types,
    "kohort list --state": _states,
    "kohort list --protocol": _protocols,
    "kohort dry-run --assignor": _assignors,
    "kohort plan --assignor": _assignors,
    "kohort plan --client": _libraries,
    "kohort fleet audit --client": _libraries,
    "kohort config get NAME": lambda: ask("settings"),
    "kohort config unset NAME": lambda: ask("settings"),
    "kohort config set NAME=VALUE": lambda: ask("settings="),
    "kohort context use NAME": lambda: ask("contexts"),
    "kohort context show NAME": lambda: ask("contexts"),
    "kohort context rename NAME": lambda: ask("contexts"),
    "kohort context remove NAME": lambda: ask("contexts"),
    "kohort log dump --group": lambda: ANY,  # the groups of a source are not those of the files
    "kohort log dump FILE": lambda: FILES,
    "kohort help TOPIC": _explained,
    "kohort serve --topic": lambda: ANY,
    "kohort-consumer-groups --state": _states,
    "kohort-consumer-groups --type": _types,
}
"""`PATH OPTION` or `PATH METAVAR`."""

BY_OPTION: Mapping[str, Values] = {"--context": ask("contexts"), "--confirm": ask("contexts")}
"""Options that mean the same in every command."""

BY_METAVAR: Mapping[str, Values] = {
    "GROUP": ask("groups"),
    "FROM": ask("groups"),
    "TO": ask("groups"),
    "TOPIC": ask("topics"),
    "TOPIC[:0,1]": ask("topics"),
    "TOPIC=N": ask("topics="),
    "MEMBER": ask("members"),
    "MEMBER=TOPIC,…": ask("members="),
    "MEMBER=RACK": ask("members="),
    "FILE": FILES,
    "JAR,…": FILES,
    "[MEMBER|LIBRARY=]FILE": FILES,
    "PLAN": FILES,
    "DIR": DIRECTORIES,
}
"""Without the dots and brackets that say how often it may stand there."""


def values_of(path: str, option: str | None, metavar: str) -> Values:
    """What a value is; ANY where nothing can be offered."""
    bare = (
        metavar.strip("…").removeprefix("[").removesuffix("]")
        if metavar.startswith("[")
        else metavar.strip("…")
    )
    told = BY_COMMAND.get(f"{path} {option or bare}")
    if told is not None:
        return told()
    return BY_OPTION.get(option or "") or BY_METAVAR.get(metavar) or BY_METAVAR.get(bare) or ANY
