"""`kohort-share-groups`: the command line of kafka-share-groups.sh."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from cli.dropin import cluster
from cli.dropin.deleting import print_deleted
from cli.dropin.describing import len_of
from cli.dropin.errors import (
    ToolFailure,
    ToolRefusal,
    ToolUsageError,
    error_message,
    exception_text,
    status_of,
)
from cli.dropin.flags import ParsedFlags, flags_in, read_command
from cli.dropin.journaling import groups_before, journaled, offset_items
from cli.dropin.main import KafkaTool, Run, failing, run_tool
from cli.dropin.parse import Action, Options, check_describe, check_execution, only_action, options_of
from cli.dropin.printing import (
    or_missing,
    print_error,
    print_remark,
    remark_unknown,
    row,
    width_of,
)
from cli.dropin.resetting import INACTIVE, Reset, Resets, run_reset
from cli.dropin.typed_groups import (
    ToolGroups,
    delete_groups,
    describe,
    described_or_not,
    names_of,
    print_list,
    undeletable,
)
from cli.errors import ExitStatus
from cli.journal.entry import ChangedItem
from cli.render.cells import MISSING, partitions_text, safe_text
from cli.sources.live import LiveSource
from groups.described import as_group, share_offsets
from groups.model import CommittedOffset, Group, GroupState, GroupType, TopicPartition, each_commit
from wire.client.cluster import KafkaClient
from wire.client.errors import Answers
from wire.client.offsets import (
    Outcomes,
    alter_share_group_offsets,
    delete_share_group_offsets,
    fetch_share_offsets,
)
from wire.errors import ErrorCode, Failure, refusal
from wire.messages.schemas.share_groups import SHARE_GROUP_DESCRIBE

_USAGE = "usage-share-groups.txt"
FLAGS = flags_in(_USAGE)
_ONLY_WITH = (
    ("members", ("describe",)), ("offsets", ("describe",)), ("state", ("describe", "list")), ("verbose", ("describe",)),
)  # fmt: skip
_SCOPES = ("topic", "all-topics", "from-file")
_SCENARIOS = ("to-offset", "to-datetime", "to-earliest", "to-latest", "to-current", "from-file")


def parse(arguments: Sequence[str]) -> Options:
    """Read and check a command line, as cli.dropin.parse.parse does for kohort-consumer-groups."""
    flags = read_command(arguments, _USAGE, only_with=_ONLY_WITH)
    _check(flags)
    action = only_action(flags, "--list, --describe, --delete, --reset-offsets, --delete-offsets.")
    return options_of(action, flags)


def _check(flags: ParsedFlags) -> None:
    if not flags.has("bootstrap-server"):
        raise ToolUsageError('Missing required argument "[bootstrap-server]"')
    if flags.has("describe"):
        check_describe(flags, "members", "offsets", "state")
    if flags.has("delete"):
        if not flags.has("group", "all-groups"):
            raise ToolUsageError("Option [delete] takes the options [group] or [all-groups].")
        if flags.has("group") and flags.has("all-groups"):
            raise ToolUsageError("Option [delete] takes either [group] or [all-groups], not both.")
        if flags.has("topic", "all-topics"):
            raise ToolUsageError("Option [delete] does not take the options [topic] or [all-topics].")
    if flags.has("delete-offsets") and not (flags.has("group") and flags.has("topic")):
        raise ToolUsageError("Option [delete-offsets] takes the following options: [group], [topic]")
    if flags.has("reset-offsets"):
        check_execution(flags, required=True)
        if not flags.has("group"):
            raise ToolUsageError("Option [reset-offsets] takes the option: [group]")
        flags.require_one("reset-offsets", *_SCOPES)
        flags.at_most_one(*_SCOPES)
        flags.require_one("reset-offsets", *_SCENARIOS)
        flags.at_most_one(*_SCENARIOS)
    flags.exclude("group", "all-groups", "list")
    flags.exclude("topic", "describe", "list")


_GROUPS = ToolGroups(
    type=GroupType.SHARE,
    states=(GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD),
    absent=lambda name: refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"Group '{name}' is not a share group."),
)


def run_describe(options: Options, source: LiveSource) -> int:
    """Print a table for each group."""
    client = cluster.client_of(source, "kohort describe")
    names, status = names_of(_GROUPS, options, source)
    described = describe(client, SHARE_GROUP_DESCRIBE, dict.fromkeys(names))
    coordinators = cluster.coordinators_of(client, described)
    for name in sorted(described, key=cluster.by_name):
        group, _ = as_group(GroupType.SHARE, described[name], coordinators.get(name))
        if not options.members and options.state is None:
            _print_offsets(name, client, verbose=options.verbose)
            continue
        exists = _print_state_remark(group)
        table = _member_table if options.members else _state_table
        if options.state is not None or (exists and group.members):
            print("\n" + "\n".join(table(group, verbose=options.verbose)))
    return status


def _print_state_remark(group: Group) -> bool:
    """Print a remark on a group without members; False if it does not exist."""
    if group.state is GroupState.DEAD:
        print_error(f"Share group '{group.id}' does not exist.")
    elif group.state is GroupState.EMPTY:
        print_remark(f"\nShare group '{group.id}' has no active members.")
    return group.state is not GroupState.DEAD


def _print_offsets(name: str, client: KafkaClient, *, verbose: bool) -> None:
    rows = _start_offsets(name, client)
    if not rows:
        print(f"\nShare group '{safe_text(name)}' has no offset information.")
        return
    widths = [width_of([name]), width_of(topic for topic, _ in rows), 10, *[13] * (2 if verbose else 1)]
    headings = ["GROUP", "TOPIC", "PARTITION", *["LEADER-EPOCH"] * verbose, "START-OFFSET", "LAG"]
    print("\n" + row(headings, widths))
    for topic, number in sorted(rows, key=lambda key: (cluster.by_name(key[0]), key[1])):
        commit = rows[topic, number]
        values = [*[commit.leader_epoch] * verbose, commit.position, commit.lag]
        print(row([name, topic, str(number), *map(or_missing, values)], widths))


def _start_offsets(name: str, client: KafkaClient) -> dict[TopicPartition, CommittedOffset]:
    """Where a group is in each of its partitions. As in the tool, those that cannot be read are left out."""
    answers = fetch_share_offsets(client, [name])
    for failure in answers.failed.values():
        raise ToolFailure(error_message(failure), status_of([failure]))
    return dict(each_commit(share_offsets(answers.found[name])[0]))


def _state_table(group: Group, *, verbose: bool) -> list[str]:
    node = group.coordinator
    coordinator = MISSING if node is None else f"{node.host}:{node.port}  ({node.id})"
    widths = [width_of([group.id]), width_of([coordinator], 25), 15, *[12, 17] * verbose]
    epochs = [or_missing(group.group_epoch), or_missing(group.assignment_epoch)]
    more = ["GROUP-EPOCH", "ASSIGNMENT-EPOCH"] * verbose
    headings = ["GROUP", "COORDINATOR (ID)", "STATE", *more, "#MEMBERS"]
    cells = [group.id, coordinator, group.state.value, *epochs * verbose, str(len(group.members))]
    return [row(headings, widths), row(cells, widths)]


def _member_table(group: Group, *, verbose: bool) -> list[str]:
    headings = [
        "GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", *["MEMBER-EPOCH"] * verbose, "ASSIGNMENT",
    ]  # fmt: skip
    rows = [
        [
            group.id, member.id, member.client.host or "", member.client.id or "", str(len_of(member.owned)),
            *[str(member.epoch)] * verbose, partitions_text(member.owned) or "",
        ]
        for member in sorted(group.members, key=lambda member: cluster.by_name(member.id))
    ]  # fmt: skip
    names = [width_of(column) for column in list(zip(*rows, strict=True))[:4]]
    widths = [*names, 12, *[13] * verbose]
    return [row(cells, widths) for cells in (headings, *rows)]


def run_delete(options: Options, source: LiveSource) -> int:
    """Delete the groups and print which are deleted and which are not; the exit status."""
    names, status = names_of(_GROUPS, options, source)
    failed = delete_groups(names, undeletable(_GROUPS, names, source), source)
    print_deleted("share groups", names, failed)
    return max(status, status_of(failed.values()))


_OF_THE_GROUP = (24, 30, 68, 69)
"""INVALID_GROUP_ID, GROUP_AUTHORIZATION_FAILED, NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND."""
_OF_A_TOPIC = (3, 29)
"""UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED."""


def delete_offsets(options: Options, source: LiveSource) -> int:
    """Delete the offsets of topics and print the outcome of each; the exit status."""
    group = options.flags.single("group") or ""
    client = cluster.client_of(source, "kafka-share-groups.sh")
    topics = sorted(set(options.topics), key=cluster.by_name)

    def items() -> Iterator[ChangedItem]:
        (before,) = groups_before(source, [group], GroupType.SHARE)
        return offset_items(before, {key: None for key, _ in each_commit(before.offsets) if key[0] in topics})

    answers = journaled(
        source, "offsets delete", items, lambda: delete_share_group_offsets(client, {group: topics})
    )
    refused, left_out = answers.failed.get(group), Failure(message="the broker has no answer for it")
    outcome = {topic: refused or answers.found[group].get(topic, left_out) for topic in topics}
    failures = [failure for failure in outcome.values() if failure]
    remark_unknown(failures)
    for first in failures[:1]:
        if first.code in _OF_THE_GROUP:
            print_error(error_message(first))
        elif first.code not in _OF_A_TOPIC:
            print_error(f"Encounter some unknown error: {exception_text(first)}")
    print("\n" + row(("TOPIC", "STATUS"), [width_of(outcome)]))
    for topic, failure in outcome.items():
        status = f"Error: {error_message(failure)}" if failure else "Successful"
        print(row((topic, status), [width_of(outcome)]))
    return status_of(failures)


class ShareReset(Reset):
    """A reset of the start offsets of a share group."""

    kind = GroupType.SHARE

    def __init__(self, options: Options, source: LiveSource) -> None:
        super().__init__(options, source)
        self._initialized: list[TopicPartition] = []  # The partitions of the group, started or not

    def names(self) -> tuple[list[str], ExitStatus]:
        return [self.options.flags.single("group") or ""], ExitStatus.DONE

    def describe(self, names: Sequence[str]) -> Mapping[str, cluster.Described]:
        return described_or_not(self.client, GroupType.SHARE, SHARE_GROUP_DESCRIBE, names)

    def is_inactive(self, group: str, state: str) -> bool:
        if state not in INACTIVE:
            raise ToolRefusal(f"Share group '{group}' is not empty.")
        return True

    def show(self, resets: Resets) -> None:
        super().show({name: offsets for name, offsets in resets.items() if offsets})

    def committed(self, group: str) -> dict[TopicPartition, int]:
        commits = _start_offsets(group, self.client)
        self._initialized = list(commits)
        return {key: commit.position for key, commit in commits.items() if commit.position is not None}

    def scope(self, committed: Mapping[TopicPartition, int]) -> list[TopicPartition]:
        return self._initialized if self.options.all_topics else super().scope(committed)

    def send(self, offsets: Resets) -> Answers[str, Outcomes]:
        return alter_share_group_offsets(self.client, offsets)


_RUNS: dict[Action, Run] = {
    Action.LIST: partial(print_list, _GROUPS),
    Action.DESCRIBE: run_describe,
    Action.DELETE: run_delete,
    Action.DELETE_OFFSETS: delete_offsets,
    Action.RESET_OFFSETS: lambda options, source: run_reset(ShareReset(options, source)),
}
TOOL = KafkaTool(
    parse=parse, action_of=lambda options: _RUNS[options.action], report=failing("share group"), usage=_USAGE
)


def main() -> None:
    run_tool(TOOL)
