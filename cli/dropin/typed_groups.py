"""What the tools for share groups and for streams groups have in common: groups of one type, listed, described, deleted
and reset."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from cli.dropin import cluster, journaling
from cli.dropin.describing import chosen_values, print_list
from cli.dropin.parse import Options
from cli.dropin.printing import ToolColumn
from cli.dropin.resetting import Reset
from cli.errors import ExitStatus
from cli.sources.live import LiveSource
from groups.described import as_group
from groups.model import Group, GroupState, GroupType
from wire.client.cluster import KafkaClient
from wire.client.groups import DescribedGroup, DescribedGroups, describe_groups
from wire.errors import ErrorCode, Failure, refusal
from wire.messages.definition import Api

G = TypeVar("G", bound=DescribedGroup, covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedGroups(Generic[G]):
    """The groups of a tool: their type, the request that describes one, their states, and Java's exception for a group
    that is not among them."""

    type: GroupType
    api: "Api[object, DescribedGroups[G]]"
    states: Sequence[GroupState]
    absent: str

    def run_list(self, options: Options, source: LiveSource) -> int:
        """`--list`: the groups, with their states and filtered by them if requested."""
        states = {state.value: state for state in self.states}
        chosen = chosen_values(options.state, states, "state list", "states")
        listed, status = cluster.list_groups(source, self.type)
        groups = [group for group in listed if not chosen or group.state in chosen]
        print_list(
            groups, options.state is not None and ToolColumn("STATE", lambda group: group.state.value, 0)
        )
        return status

    def names(self, options: Options, source: LiveSource) -> tuple[list[str], ExitStatus]:
        """The groups that a command line names, or all of the type by name; and the status of listing them."""
        if not options.has("all-groups"):
            return list(options.groups), ExitStatus.DONE
        listed, status = cluster.list_groups(source, self.type)
        return [group.id for group in listed], status

    def described(self, client: KafkaClient, names: Iterable[str], prefix: str = "") -> list[Group]:
        """The groups, each once, in the order of the names. Raises ToolFailure: one cannot be read."""
        answers = describe_groups(client, self.api, dict.fromkeys(names))
        cluster.raise_failure(answers.failed.values(), prefix=prefix)
        at = cluster.coordinators_of(client, answers.found)
        return [as_group(self.type, answer, at.get(name))[0] for name, answer in answers.found.items()]

    def deleted(
        self, names: Sequence[str], kept: Mapping[str, Failure], source: LiveSource
    ) -> dict[str, Failure]:
        """Delete the named groups that are not `kept`; why some are not deleted."""
        failed = journaling.delete_groups(source, [name for name in names if name not in kept]).failed
        return {name: why for name in names if (why := kept.get(name) or failed.get(name)) is not None}

    def undeletable(self, names: Iterable[str], source: LiveSource) -> dict[str, Failure]:
        """Why some of the named groups are not to be deleted: another type, or not empty."""
        states = {group.id: group.state for group in cluster.list_groups(source, self.type)[0]}
        failed: dict[str, Failure] = {}
        for name in names:
            what = f"{self.type.value.capitalize()} group '{name}'"
            match states.get(name):
                case None:
                    failed[name] = Failure(message=self.absent.format(name), is_unsent=True)
                case GroupState.DEAD:
                    why = f"java.lang.IllegalStateException: {what} group state is DEAD."
                    failed[name] = Failure(message=why, is_unsent=True)
                case state if state is not GroupState.EMPTY:
                    failed[name] = refusal(ErrorCode.NON_EMPTY_GROUP, f"{what} is not EMPTY.")
        return failed


class TypedReset(Reset):
    """A reset of groups of one type."""

    groups: TypedGroups[DescribedGroup]

    def names(self) -> tuple[list[str], ExitStatus]:
        return self.groups.names(self.options, self.source)

    def describe(self, names: Sequence[str]) -> Mapping[str, cluster.Described]:
        answers = describe_groups(self.client, self.groups.api, names)
        found = {name: (self.groups.type, answer) for name, answer in answers.found.items()}
        return {name: found.get(name) or answers.failed[name] for name in names}
