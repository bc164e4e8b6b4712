"""Options that many commands share. A command takes an options dataclass as one parameter; `cli.command_tree.expand`
spreads its fields over the command's signature, where Typer reads them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.errors import UsageError
from cli.render.output_format import FOR_PROGRAMS, OutputFormat, Shape
from cli.sources.contexts.origin import SourceOrigin
from cli.times import TIMEOUT_BOUNDS_S, duration_parser

SELECTION_PANEL = "Selection of groups"
SOURCE_PANEL = "Source of groups"
CLUSTERS_PANEL = "Several clusters"
OUTPUT_PANEL = "Output"
TARGET_PANEL = "Another cluster"


def option(names: str, help_text: str, metavar: str | None = None, **settings: Any) -> Any:
    """An option for `Annotated`, with its short name after the long one: `--output -o`; `settings` are Typer's."""
    return typer.Option(*names.split(), metavar=metavar, help=help_text, **settings)


def duration_option(
    names: str, help_text: str, unit: str, least_s: float, most_s: float, **settings: object
) -> object:
    """An option for `Annotated` that is a duration within bounds (`duration_parser`)."""
    return option(names, help_text, "DURATION", parser=duration_parser(unit, least_s, most_s), **settings)


def color_option(*, hidden: bool = False) -> object:
    """The global `--color`, which every command takes too."""
    return option("--color", "Color the output of a terminal; auto by default.", hidden=hidden)


_source = partial(option, rich_help_panel=SOURCE_PANEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSource:
    """The options that name a source, for this command or as a context."""

    bootstrap_server: Annotated[
        str | None, _source("--bootstrap-server -b", "Bootstrap servers of a live cluster.", "HOST:PORT,…")
    ] = None
    command_config: Annotated[
        Path | None,
        _source("--command-config", "Client properties file, as for Java clients or librdkafka.", "FILE"),
    ] = None
    snapshot: Annotated[Path | None, _source("--snapshot", "Snapshot file.", "FILE")] = None
    embedded: Annotated[
        Path | None, _source("--embedded", "The embedded coordinator's data directory (the default).", "DIR")
    ] = None
    log_dirs: Annotated[
        list[Path] | None,
        _source(
            "--log-dir", "A broker's log directory (its __consumer_offsets-N), read only; repeatable.", "DIR"
        ),
    ] = None
    as_of: Annotated[
        str | None,
        _source(
            "--as-of",
            "With --log-dir: state at this time: 2026-03-01T12:00:00Z, milliseconds since 1970, or 15m ago as 15m.",
            "TIME",
        ),
    ] = None
    topics_file: Annotated[
        Path | None,
        _source(
            "--topics",
            "With --log-dir: topic ids and names, from kafka-topics --describe or a snapshot.",
            "FILE",
        ),
    ] = None

    @property
    def sources(self) -> dict[str, object]:
        """The values of the options that name a source, by option; None if one was not given."""
        return {
            "--bootstrap-server": self.bootstrap_server,
            "--command-config": self.command_config,
            "--snapshot": self.snapshot,
            "--embedded": self.embedded,
            "--log-dir": self.log_dirs or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions(NamedSource):
    context: Annotated[
        str | None,
        _source(
            "--context",
            "Context to use; kohort context list shows all. Some commands read several.",
            "NAME,…",
        ),
    ] = None
    timeout_ms: Annotated[
        int,
        _source(
            "--timeout",
            "Maximum time to wait for the live cluster: 30s, or a number of milliseconds.",
            "DURATION",
            parser=duration_parser("ms", *TIMEOUT_BOUNDS_S),
        ),
    ] = 30_000
    place: SourceOrigin | None = None  # Not an option: the origin of a source that no option names
    timeout_is_chosen: bool = False  # Not an option: whether an option, variable or context sets it
    clusters: tuple[str, ...] = ()  # Not an option: the names of several contexts (`ClustersOptions`)


OF_CLUSTERS = ("list", "lag", "describe", "diagnose", "why", "plan", "exporter", "top")
"""Commands that have `ClustersOptions`."""


_clusters = partial(option, rich_help_panel=CLUSTERS_PANEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClustersOptions(SourceOptions):
    """The source of a command that can read several clusters side by side (`cli.clusters`), each a context."""

    all_contexts: Annotated[bool, _clusters("--all-contexts", "Read every context, side by side.")] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedOptions(ClustersOptions):
    compare: Annotated[
        tuple[str, str] | None,
        _clusters(
            "--compare", "Show side by side what groups are in two contexts, and their lag.", "NAME NAME"
        ),
    ] = None


_target = partial(option, rich_help_panel=TARGET_PANEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetClusterOptions:
    """The target cluster, if it is not the source, and how records are found there."""

    to_context: Annotated[
        str | None, _target("--to-context", "Copy to the cluster of this context.", "NAME")
    ] = None
    to_bootstrap_server: Annotated[
        str | None,
        _target("--to-bootstrap-server", "Copy to the cluster with these bootstrap servers.", "HOST:PORT,…"),
    ] = None
    to_command_config: Annotated[
        Path | None, _target("--to-command-config", "Client properties for the target cluster.", "FILE")
    ] = None
    topic_prefix: Annotated[
        str | None, _target("--topic-prefix", "Prefix of topic names in the target cluster.", "PREFIX")
    ] = None
    renamed: Annotated[
        list[str] | None,
        _target("--map", "Name of a topic in the target cluster; repeatable.", "SOURCE=TARGET"),
    ] = None
    search: Annotated[
        int | None,
        _target(
            "--search",
            "Maximum number of records to search per target partition; 10000 by default.",
            "N",
            min=1,
            max=10_000_000,
        ),
    ] = None
    unproved: Annotated[
        bool, _target("--unproved", "Also set offsets that the target's records do not prove.")
    ] = False
    source: SourceOptions | None = None  # Not an option: the cluster as a source, if one is named

    @property
    def is_given(self) -> bool:
        return any((self.to_context, self.to_bootstrap_server, self.to_command_config))


_output = partial(option, rich_help_panel=OUTPUT_PANEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    output: Annotated[OutputFormat, _output("--output -o", "Output format.")] = OutputFormat.TABLE
    columns: Annotated[
        str | None, _output("--columns", "Show only these columns, by heading, in this order.", "A,B,…")
    ] = None
    sort: Annotated[
        str | None,
        _output("--sort", "Sort rows by these columns; unknown values come last.", "COLUMN[:desc],…"),
    ] = None
    no_header: Annotated[bool, _output("--no-header", "Omit column headings.")] = False

    def __post_init__(self) -> None:
        """Refuse options that the format does not support, before anything is read or changed."""
        if self.shape is not None and self.output in FOR_PROGRAMS:
            raise UsageError(
                "--columns, --sort and --no-header arrange tables; "
                f"--output {self.output.value} always prints all fields: select them with a tool such as jq"
            )

    @property
    def shape(self) -> Shape | None:
        """How tables are arranged, None if unchanged. UsageError for a malformed value."""
        if self.columns is None and self.sort is None and not self.no_header:
            return None
        from cli.render.output_format import Shape, parse_columns, parse_sort

        return Shape(
            columns=() if self.columns is None else parse_columns(self.columns),
            sort=() if self.sort is None else parse_sort(self.sort),
            header=not self.no_header,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """The file of a command that writes one; `cli.output.file_of` reads them."""

    file: Annotated[Path | None, option("--file", "File to write; by default standard output.", "FILE")] = (
        None
    )
    earlier_file: Annotated[
        Path | None, option("--out -o --output", "Earlier names of --file.", "FILE", hidden=True)
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatOptions:
    watch: Annotated[
        float | None,
        option(
            "--watch",
            "Repeat at this interval, 5s or seconds, until Ctrl-C; a terminal is redrawn in place, changes marked.",
            "DURATION",
            parser=duration_parser("s", 0.1, 86_400),
        ),
    ] = None


_selection = partial(option, rich_help_panel=SELECTION_PANEL)

OnlyTopics = Annotated[
    list[str] | None,
    option("--topic", "Only this topic, or these of its partitions; repeatable.", "TOPIC[:0,1]"),
]
"""`--topic`, which limits a selection; `cli.verbs.offsets.facts.parse_scopes` reads the values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """The groups that are named, that match, or all, if they pass every filter: match any of its values."""

    groups: Annotated[list[str] | None, typer.Argument(metavar="GROUP…", help="Group ids.")] = None
    match: Annotated[
        str | None, _selection("--match", "Groups whose id contains a match of this regex (RE2).", "REGEX")
    ] = None
    all_groups: Annotated[bool, _selection("--all-groups", "All groups.")] = False
    types: Annotated[
        list[str] | None,
        _selection("--type", "Only these types: classic (or generic), consumer, share, streams.", "TYPE,…"),
    ] = None
    states: Annotated[
        list[str] | None, _selection("--state", "Only these states: Stable, Empty, …", "STATE,…")
    ] = None
    protocols: Annotated[
        list[str] | None,
        _selection(
            "--protocol", "Only these protocol types or assignors: consumer, connect, range, …", "PROTOCOL,…"
        ),
    ] = None
    topics: Annotated[
        list[str] | None,
        _selection(
            "--topic",
            "Only groups that read this topic: a member owns it or subscribes to it, or offsets are committed.",
            "TOPIC,…",
        ),
    ] = None

    unused_for: str | None = None  # An option only of the commands that list and delete groups

    @property
    def filters(self) -> dict[str, list[str]]:
        filters = {
            "--type": self.types,
            "--state": self.states,
            "--protocol": self.protocols,
            "--topic": self.topics,
            "--unused-for": None if self.unused_for is None else [self.unused_for],
        }
        return {name: values for name, values in filters.items() if values}

    @property
    def chooses(self) -> bool:
        """Whether anything but names is given."""
        return self.all_groups or self.match is not None or bool(self.filters)


UnusedFor = Annotated[
    str | None,
    _selection(
        "--unused-for", "Only groups without members, unused for at least this long: 30d, 12h.", "DURATION"
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSelection(SelectionOptions):
    unused_for: UnusedFor = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSelection(SelectionOptions):
    """Which groups are listed: all that match and pass every filter."""

    unused_for: UnusedFor = None

    groups: list[str] | None = None  # Not an option, like the next field
    all_groups: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsSelection(SelectionOptions):
    """The selected groups; `--topic` selects among their offsets, not among the groups."""

    topics: list[str] | None = None  # Not an option


_INTERNAL_TOPICS = "Internal topics of streams groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class InternalTopicOptions:
    """The internal topics of streams groups that are deleted with a change."""

    delete_all_internal_topics: Annotated[
        bool,
        option(
            "--delete-all-internal-topics",
            "Also delete changelog and repartition topics of streams groups.",
            rich_help_panel=_INTERNAL_TOPICS,
        ),
    ] = False
    delete_internal_topic: Annotated[
        list[str] | None,
        option(
            "--delete-internal-topic",
            "Also delete this changelog or repartition topic; repeatable.",
            "TOPIC",
            rich_help_panel=_INTERNAL_TOPICS,
        ),
    ] = None


def with_value(
    arguments: list[str], *, option: str, default: str, is_value: Callable[[str], bool]
) -> list[str]:
    """The arguments, with `default` after every `option` without a value. Arguments after `--` are not options."""
    filled: list[str] = []
    for position, argument in enumerate(arguments):
        if argument == "--":
            return filled + arguments[position:]
        filled.append(argument)
        following = arguments[position + 1] if position + 1 < len(arguments) else "-"
        # An empty value is a value, which is refused as every empty one.
        if argument == option and following.strip() and not is_value(following):
            filled.append(default)
    return filled
