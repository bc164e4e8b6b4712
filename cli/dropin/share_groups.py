"""`kohort-share-groups`: the command line of kafka-share-groups.sh."""

from functools import partial

from cli.dropin import cluster
from cli.dropin.deleting import OF_THE_GROUP, print_deleted, print_outcomes
from cli.dropin.describing import len_of, print_state_remark, state_table
from cli.dropin.errors import ToolFailure, ToolRefusal, error_message, exception_text, status_of
from cli.dropin.flags import ParsedFlags, refuse
from cli.dropin.journaling import journaled_offsets
from cli.dropin.main import KafkaTool, Run, failing, run_tool
from cli.dropin.parse import Action, Options, parse_command
from cli.dropin.printing import ToolColumn, print_error, remark_unknown, table
from cli.dropin.resetting import INACTIVE, Commits, Resets, run
from cli.dropin.typed_groups import TypedGroups, TypedReset
from cli.errors import ExitStatus
from cli.render.cells import partitions_text, safe_text
from cli.sources.live import LiveSource
from groups.described import share_offsets
from groups.model import Group, GroupState, GroupType, each_commit
from wire.client import offsets
from wire.client.cluster import KafkaClient
from wire.client.errors import Answers
from wire.errors import Failure
from wire.messages.schemas.share_groups import SHARE_GROUP_DESCRIBE

_SCOPES = ("topic", "all-topics", "from-file")
_SCENARIOS = ("to-offset", "to-datetime", "to-earliest", "to-latest", "to-current", "from-file")
_GROUPS = TypedGroups(
    type=GroupType.SHARE,
    api=SHARE_GROUP_DESCRIBE,
    states=(GroupState.STABLE, GroupState.EMPTY, GroupState.DEAD),
    absent="org.apache.kafka.common.errors.GroupIdNotFoundException: Group '{}' is not a share group.",
)


def _check(flags: ParsedFlags) -> None:
    has = flags.has
    flags.check_describe("members", "offsets", "state")
    if has("delete"):
        both, takes = has("group") and has("all-groups"), "Option [delete] takes"
        refuse(not has("group", "all-groups"), f"{takes} the options [group] or [all-groups].")
        refuse(both, f"{takes} either [group] or [all-groups], not both.")
        topics = has("topic", "all-topics")
        refuse(topics, "Option [delete] does not take the options [topic] or [all-topics].")
    flags.check_deletion()
    if has("reset-offsets"):
        flags.check_execution(required=True)
        refuse(not has("group"), "Option [reset-offsets] takes the option: [group]")
        for kind in (_SCOPES, _SCENARIOS):
            flags.require_one("reset-offsets", *kind)
            flags.at_most_one(*kind)
    flags.check_selection()


def run_describe(options: Options, source: LiveSource) -> int:
    """Print a table for each group."""
    client = cluster.client_of(source, "kohort describe")
    names, status = _GROUPS.names(options, source)
    for group in _GROUPS.described(client, sorted(names, key=cluster.by_name)):
        if not options.has("members") and options.state is None:
            _print_offsets(group.id, client, verbose=options.has("verbose"))
            continue
        print_state_remark(group, "Share")
        if options.state is not None:
            print("\n" + state_table(group, _STATE, *_EPOCHS * options.has("verbose")))
        elif group.members:
            print("\n" + _member_table(group, verbose=options.has("verbose")))
    return status


def _print_offsets(name: str, client: KafkaClient, *, verbose: bool) -> None:
    if not (commits := _start_offsets(name, client)):
        print(f"\nShare group '{safe_text(name)}' has no offset information.")
        return
    text = table(
        sorted(commits, key=cluster.by_place),
        ToolColumn("GROUP", lambda _: name),
        ToolColumn("TOPIC", lambda place: place[0]),
        ToolColumn("PARTITION", lambda place: place[1], 10),
        verbose and ToolColumn("LEADER-EPOCH", lambda place: commits[place].leader_epoch, 13),
        ToolColumn("START-OFFSET", lambda place: commits[place].position, 13),
        ToolColumn("LAG", lambda place: commits[place].lag, 0),
    )
    print(f"\n{text}")


def _start_offsets(name: str, client: KafkaClient) -> Commits:
    """Where a group is in each of its partitions. As in the tool, those that cannot be read are left out."""
    answers = offsets.fetch_share_offsets(client, [name])
    for failure in answers.failed.values():
        raise ToolFailure(error_message(failure), status_of([failure]))
    return dict(each_commit(share_offsets(answers.found[name])[0]))


_STATE = ToolColumn[Group]("STATE", lambda group: group.state.value, 15)
_EPOCHS = (
    ToolColumn[Group]("GROUP-EPOCH", lambda group: group.group_epoch, 12),
    ToolColumn[Group]("ASSIGNMENT-EPOCH", lambda group: group.assignment_epoch, 17),
)


def _member_table(group: Group, *, verbose: bool) -> str:
    return table(
        sorted(group.members, key=lambda member: cluster.by_name(member.id)),
        ToolColumn("GROUP", lambda _: group.id),
        ToolColumn("CONSUMER-ID", lambda member: member.id),
        ToolColumn("HOST", lambda member: member.client.host or ""),
        ToolColumn("CLIENT-ID", lambda member: member.client.id or ""),
        ToolColumn("#PARTITIONS", lambda member: len_of(member.owned), 12),
        verbose and ToolColumn("MEMBER-EPOCH", lambda member: member.epoch, 13),
        ToolColumn("ASSIGNMENT", lambda member: partitions_text(member.owned) or "", 0),
    )


def run_delete(options: Options, source: LiveSource) -> int:
    """Delete the groups and print which are deleted and which are not; the exit status."""
    names, status = _GROUPS.names(options, source)
    failed = _GROUPS.deleted(names, _GROUPS.undeletable(names, source), source)
    print_deleted("share groups", names, failed)
    return max(status, status_of(failed.values()))


_OF_A_TOPIC = (3, 29)
"""UNKNOWN_TOPIC_OR_PARTITION, TOPIC_AUTHORIZATION_FAILED."""


def delete_offsets(options: Options, source: LiveSource) -> int:
    """Delete the offsets of topics and print the outcome of each; the exit status."""
    group, client = options.group, cluster.client_of(source, "kafka-share-groups.sh")
    topics = sorted(set(options.topics), key=cluster.by_name)
    answers = journaled_offsets(
        source,
        group,
        lambda before: {key: None for key, _ in each_commit(before.offsets) if key[0] in topics},
        lambda: offsets.delete_share_group_offsets(client, {group: topics}),
    )
    refused, left_out = answers.failed.get(group), Failure(message="the broker has no answer for it")
    outcome = {topic: refused or answers.found[group].get(topic, left_out) for topic in topics}
    failures = [failure for failure in outcome.values() if failure]
    remark_unknown(failures)
    for first in failures[:1]:
        if first.code in OF_THE_GROUP:
            print_error(error_message(first))
        elif first.code not in _OF_A_TOPIC:
            print_error(f"Encounter some unknown error: {exception_text(first)}")
    print_outcomes(outcome, ToolColumn("TOPIC", str), text=error_message)
    return status_of(failures)


class ShareReset(TypedReset):
    """A reset of the start offsets of a share group."""

    groups, kind = _GROUPS, GroupType.SHARE

    def names(self) -> tuple[list[str], ExitStatus]:
        return [self.options.group], ExitStatus.DONE

    def is_inactive(self, group: str, state: str) -> bool:
        if state in INACTIVE:
            return True
        raise ToolRefusal(f"Share group '{group}' is not empty.")

    def show(self, resets: Resets) -> None:
        super().show({name: offsets for name, offsets in resets.items() if offsets})

    def committed(self, group: str) -> Commits:
        return _start_offsets(group, self.client)

    def send(self, resets: Resets) -> Answers[str, offsets.Outcomes]:
        return offsets.alter_share_group_offsets(self.client, resets)


_RUNS: dict[Action, Run] = {
    Action.LIST: _GROUPS.run_list,
    Action.DESCRIBE: run_describe,
    Action.DELETE: run_delete,
    Action.DELETE_OFFSETS: delete_offsets,
    Action.RESET_OFFSETS: partial(run, kind=ShareReset),
}
_USAGE, _ACTIONS = (
    "usage-share-groups.txt",
    "--list, --describe, --delete, --reset-offsets, --delete-offsets.",
)
TOOL = KafkaTool(
    parse=partial(parse_command, usage=_USAGE, check=_check, actions=_ACTIONS),
    action_of=lambda options: _RUNS[options.action],
    report=failing("share group"),
    usage=_USAGE,
)
main = partial(run_tool, TOOL)
