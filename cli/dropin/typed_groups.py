"""What the tools for share groups and for streams groups have in common: groups of one type, listed and deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from cli.dropin.cluster import Described, list_groups, raise_failure
from cli.dropin.deleting import delete_journaled
from cli.dropin.describing import chosen_values
from cli.dropin.parse import Options
from cli.dropin.printing import row, width_of
from cli.errors import ExitStatus
from cli.render.cells import safe_text
from cli.sources.live import LiveSource
from groups.model import GroupState, GroupType
from wire.client.cluster import KafkaClient
from wire.client.groups import DescribedGroup, DescribedGroups, describe_groups
from wire.errors import ErrorCode, Failure, refusal
from wire.messages.definition import Api

G = TypeVar("G", bound=DescribedGroup)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolGroups:
    """The groups of a tool: their type, their states, and why one that is not among them is not deleted."""

    type: GroupType
    states: Sequence[GroupState]
    absent: Callable[[str], Failure]


def print_list(groups: ToolGroups, options: Options, source: LiveSource) -> int:
    """`--list`: the groups, with their states and filtered by them if requested."""
    states = {state.value: state for state in groups.states}
    chosen = chosen_values(options.state, states, "state list", "states")
    listed, status = list_groups(source, groups.type)
    if options.state is None:
        for group in listed:
            print(safe_text(group.id))
        return status
    rows = [(group.id, group.state.value) for group in listed if not chosen or group.state in chosen]
    widths = [width_of(name for name, _ in rows)]
    for cells in [("GROUP", "STATE"), *rows]:
        print(row(cells, widths))
    return status


def names_of(groups: ToolGroups, options: Options, source: LiveSource) -> tuple[list[str], ExitStatus]:
    """The groups that a command line names, or all of the type by name; and the status of listing them."""
    if not options.all_groups:
        return list(options.groups), ExitStatus.DONE
    listed, status = list_groups(source, groups.type)
    return [group.id for group in listed], status


def describe(
    client: KafkaClient,
    api: Api[object, DescribedGroups[G]],
    names: Iterable[str],
    *,
    nodes: bool = False,
    prefix: str = "",
) -> dict[str, G]:
    """The groups as brokers describe them, in the order of the names. Raises ToolFailure: one cannot be read."""
    answers = describe_groups(client, api, names, nodes=nodes)
    raise_failure(answers.failed.values(), prefix=prefix)
    return {name: answers.found[name] for name in names}


def described_or_not(
    client: KafkaClient, kind: GroupType, api: Api[object, DescribedGroups[G]], names: Sequence[str]
) -> Mapping[str, Described]:
    """Each group of a reset, or why it is not described."""
    answers = describe_groups(client, api, names)
    return {
        name: (kind, answers.found[name]) if name in answers.found else answers.failed[name] for name in names
    }


def undeletable(groups: ToolGroups, names: Sequence[str], source: LiveSource) -> dict[str, Failure]:
    """Why some of the named groups are not to be deleted: another type, or not empty."""
    states = {group.id: group.state for group in list_groups(source, groups.type)[0]}
    failed: dict[str, Failure] = {}
    for name in names:
        what = f"{groups.type.value.capitalize()} group '{name}'"
        match states.get(name):
            case None:
                failed[name] = groups.absent(name)
            case GroupState.DEAD:
                why = f"java.lang.IllegalStateException: {what} group state is DEAD."
                failed[name] = Failure(message=why, is_unsent=True)
            case state if state is not GroupState.EMPTY:
                failed[name] = refusal(ErrorCode.NON_EMPTY_GROUP, f"{what} is not EMPTY.")
    return failed


def delete_groups(
    names: Sequence[str], failed: Mapping[str, Failure], source: LiveSource
) -> dict[str, Failure]:
    """Delete those of the named groups that have not `failed` before; why some are not deleted."""
    outcome = delete_journaled(source, [name for name in dict.fromkeys(names) if name not in failed]).failed
    return {name: why for name in names if (why := failed.get(name) or outcome.get(name)) is not None}
