"""`kohort offsets`: reset, export, import, clone, delete."""

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cli.consent import EmptyGroupConsent
from cli.options import (
    FileOptions,
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
    from cli.verbs.offsets.reset import reset_offsets

    reset_offsets(
        selection, topic, asdict(scenario), internal_topics, consent, source, output, all_topics=all_topics
    )


def load(
    *,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV without a header: [group,]topic,partition,offset.")
    ],
    groups: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[GROUP]…", help="Group to set; if the file names groups, only these.", show_default=False
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
    from cli.verbs.offsets.reset import import_offsets

    import_offsets(file, groups or (), consent, source, output)


def export(
    *,
    selection: OffsetsSelection,
    topic: OnlyTopics = None,
    with_group: Annotated[
        bool, option("--with-group", "Write the group's name in each line, even for one group.")
    ] = False,
    file: FileOptions,
    source: SourceOptions,
) -> None:
    """Export committed offsets as CSV.

    Writes what kafka-consumer-groups --export writes, without a header: topic,partition,offset for one group that
    is named, group,topic,partition,offset for several.

    \b
    Examples:
      kohort offsets export billing --file billing.csv
      kohort offsets export --match '^billing' -b localhost:9092 > offsets.csv
    """
    from cli.verbs.offsets.action import export_offsets

    export_offsets(selection, topic, file, source, with_group=with_group)


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
    from cli.verbs.offsets.clone import clone_offsets

    clone_offsets(origin, target, topic, cluster, consent, source, output)


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
    from cli.verbs.offsets.action import delete_offsets

    delete_offsets(selection, topic, consent, source, output, all_topics=all_topics)
