"""`kohort offsets`: reset, export, import, clone, delete."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cli.consent import EmptyGroupConsent
from cli.options import (
    InternalTopicOptions,
    OffsetsSelection,
    OnlyTopics,
    OutputOptions,
    SourceOptions,
    TargetClusterOptions,
    option,
)

_THESE_TOPICS = option("--topic", "This topic, or these partitions of it; repeatable.", "TOPIC[:0,1]")
_scenario = partial(option, rich_help_panel="New offsets (give one of these)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioOptions:
    """The target of a reset."""

    to_earliest: Annotated[bool, _scenario("--to-earliest", "To the start of the log.")] = False
    to_latest: Annotated[bool, _scenario("--to-latest", "To the end of the log.")] = False
    to_current: Annotated[
        bool, _scenario("--to-current", "To the committed offset, or the end of the log if there is none.")
    ] = False
    to_offset: Annotated[int | None, _scenario("--to-offset", "To this offset.", "OFFSET")] = None
    shift_by: Annotated[
        int | None, _scenario("--shift-by", "Forward by N records, or back if N < 0.", "N")
    ] = None
    to_datetime: Annotated[
        str | None,
        _scenario(
            "--to-datetime",
            "To the first record at or after this time: 2026-03-01T12:00:00.000 (UTC by default), -15m.",
            "TIME",
        ),
    ] = None
    by_duration: Annotated[
        str | None, _scenario("--by-duration", "To the first record of the last PT2H30M, P7D, …", "DURATION")
    ] = None
    from_file: Annotated[
        Path | None,
        _scenario("--from-file", "To the offsets in a CSV file: [group,]topic,partition,offset.", "FILE"),
    ] = None
    to_group: Annotated[
        str | None, _scenario("--to-group", "To the committed offsets of this group.", "GROUP")
    ] = None


def reset(
    *,
    selection: OffsetsSelection,
    topic: Annotated[list[str] | None, _THESE_TOPICS] = None,
    all_topics: Annotated[bool, option("--all-topics", "All topics with committed offsets.")] = False,
    scenario: ScenarioOptions,
    internal_topics: InternalTopicOptions,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Reset the committed offsets of groups without members.

    Shows every partition before and after; nothing is changed without --execute. A new offset outside the log is
    moved to the nearest end of the log, and the table shows it. Share and streams groups are reset only if they
    are named or selected by --type; --type share creates a share group if this one does not exist.

    \b
    Examples:
      kohort offsets reset reports --to-earliest --all-topics -b localhost:9092
      kohort offsets reset reports --to-datetime -1h --topic orders --execute
    """
    from cli.changing import carry_out
    from cli.selection import choose_groups, group_filter, opened_for_change
    from cli.verbs.offsets.action import parse_scopes, plan_resets
    from cli.verbs.offsets.found import left_out, with_new_share_groups
    from cli.verbs.offsets.reset_request import reset_request
    from cli.waiting import wait_until_empty

    options = {name.replace("_", "-"): value for name, value in asdict(scenario).items()}
    request = reset_request(options, parse_scopes(topic), all_topics=all_topics)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        types = group_filter(selection).types
        chosen, problems = with_new_share_groups(*choose_groups(groups, selection), types)
        named = bool(selection.groups)
        wait_until_empty(groups, chosen, consent, leaving_out=left_out(types, named=named))
        change = plan_resets(
            groups,
            request,
            chosen,
            named=named,
            types=types,
            internal_topics=internal_topics,
            writer=writer,
            problems=problems,
        )
        carry_out(change, consent, output)


def load(
    *,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV without a header: [group,]topic,partition,offset.")
    ],
    groups: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GROUP]…",
            help="Group to set; if the file names groups, only these.",
            show_default=False,
        ),
    ] = None,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Set committed offsets from a CSV file.

    Reads the files of `kohort offsets export` and of Kafka's own tool. Shows every partition before and after;
    nothing is changed without --execute. A new offset outside the log is moved to the nearest end of the log, and
    the table shows it.

    \b
    Examples:
      kohort offsets import billing.csv billing
      kohort offsets import billing.csv billing -b localhost:9092 --execute
    """
    from cli.changing import carry_out
    from cli.selection import opened_for_change
    from cli.verbs.offsets.action import plan_resets
    from cli.verbs.offsets.reset_request import import_request
    from cli.waiting import wait_until_empty

    request, names = import_request(file, groups or ())
    with opened_for_change(source, execute=consent.execute) as (cluster, writer):
        wait_until_empty(cluster, names, consent)
        change = plan_resets(
            cluster,
            request,
            names,
            named=True,
            writer=writer,
            command="offsets import",
            facts={"file": str(file)},
        )
        carry_out(change, consent, output)


def export(
    *,
    selection: OffsetsSelection,
    topic: OnlyTopics = None,
    with_group: Annotated[
        bool, option("--with-group", "Write the group's name in each line, even for one group.")
    ] = False,
    file: Annotated[
        Path | None, option("-o --out", "File to write; by default standard output.", "FILE")
    ] = None,
    source: SourceOptions,
) -> None:
    """Export committed offsets as CSV.

    Writes what kafka-consumer-groups --export writes, without a header: topic,partition,offset for one group that
    is named, group,topic,partition,offset for several.

    \b
    Examples:
      kohort offsets export billing > billing.csv
      kohort offsets export --match '^billing' -b localhost:9092 > offsets.csv
    """
    from cli.output import as_utf8, notice, status_of, write_file, write_out
    from cli.selection import describe_chosen, opened
    from cli.verbs.offsets.action import exported, parse_scopes
    from groups.counts import counted
    from groups.offsets.offsets_csv import write_offsets

    scopes = parse_scopes(topic)
    with opened(source) as groups:
        read = describe_chosen(groups, selection, offsets=True)
    rows, unusable = exported(read.items, scopes)
    with_group = with_group or len(set(selection.groups or ())) != 1
    text = write_offsets(rows, with_group=with_group)
    if file is None:
        write_out(lambda stream: as_utf8(stream).write(text))
    else:
        write_file(file, [text], newline="")
        notice(f"{counted(len(rows), 'offset')} written to {file}")
    unread = (*read.problems, *unusable)
    for problem in unread:
        notice(f"{problem.subject}: {problem.message}")
    if unread:
        raise typer.Exit(int(status_of(unread, shown=bool(read.items))))


def clone(
    *,
    origin: Annotated[str, typer.Argument(metavar="FROM", help="Group to copy from.")],
    target: Annotated[
        str, typer.Argument(metavar="TO", help="Group to copy to; created if it does not exist.")
    ],
    topic: OnlyTopics = None,
    cluster: TargetClusterOptions,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Copy committed offsets to another group or cluster.

    Within a cluster they are copied unchanged, with leader epochs and metadata, even if they are outside the log.

    In another cluster (--to-context, --to-bootstrap-server) the same record has another offset. Kohort finds it by
    its timestamp, and proves it by comparing the records around it: keys, values, headers and timestamps. Offsets
    that are not proved are refused.

    Nothing is changed without --execute.

    \b
    Examples:
      kohort offsets clone billing billing-test
      kohort offsets clone billing billing --context old --to-context new
    """
    from cli.changing import carry_out
    from cli.selection import opened, opened_for_change
    from cli.verbs.offsets.action import parse_scopes, plan_clone
    from cli.verbs.offsets.cluster_copy import check_alone, copy_request, plan_cluster_clone
    from cli.waiting import wait_until_empty

    scopes = parse_scopes(topic)
    if cluster.source is None:
        check_alone(cluster)
        with opened_for_change(source, execute=consent.execute) as (groups, writer):
            wait_until_empty(groups, [target], consent)
            carry_out(plan_clone(groups, origin, target, scopes, writer), consent, output)
        return
    request = copy_request(origin, target, scopes, cluster)
    with (
        opened(source) as groups,
        opened_for_change(cluster.source, execute=consent.execute) as (there, writer),
    ):
        wait_until_empty(there, [target], consent)
        carry_out(plan_cluster_clone(groups, there, request, writer), consent, output)


def delete(
    *,
    selection: OffsetsSelection,
    topic: Annotated[list[str] | None, _THESE_TOPICS] = None,
    all_topics: Annotated[bool, option("--all-topics", "All topics with committed offsets.")] = False,
    consent: EmptyGroupConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Delete the committed offsets of a topic.

    Members of a group must not subscribe to the topic; a share group must have no members. Shows the offsets;
    nothing is deleted without --execute. Share and streams groups are included only if they are named or selected
    by --type.

    \b
    Examples:
      kohort offsets delete nightly-report --topic payments
    """
    from cli.changing import carry_out
    from cli.selection import choose_groups, group_filter, opened_for_change
    from cli.verbs.offsets.action import parse_scopes, plan_deletions
    from cli.verbs.offsets.found import left_out
    from cli.waiting import wait_until_empty

    scopes = parse_scopes(topic)
    with opened_for_change(source, execute=consent.execute) as (groups, writer):
        chosen, problems = choose_groups(groups, selection)
        types, named = group_filter(selection).types, bool(selection.groups)
        wait_until_empty(groups, chosen, consent, leaving_out=left_out(types, named=named))
        change = plan_deletions(
            groups,
            chosen,
            scopes,
            all_topics=all_topics,
            named=named,
            types=types,
            problems=problems,
            writer=writer,
        )
        carry_out(change, consent, output)
