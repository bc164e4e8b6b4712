"""`kohort config list`, `get`, `set` and `unset`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from cli.consent import ClusterConsent
from cli.options import ListSelection, OutputOptions, SourceOptions, option

Group = Annotated[str, typer.Argument(metavar="GROUP", help="Group id; the group need not exist.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSelection(ListSelection):
    """The listed groups: those that can be selected without a description."""

    topics: list[str] | None = None  # Not an option, like the next field
    unused_for: str | None = None


def list_settings(
    *,
    selection: ConfigSelection,
    every: Annotated[
        bool, option("--all", "Also show settings that the brokers or Kafka set for all groups.")
    ] = False,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """List settings of groups that differ from the default.

    Also those of groups that do not exist yet, if the brokers list them (Kafka 4.1).

    \b
    Examples:
      kohort config list -b localhost:9092
      kohort config list --match '^billing' --all -b localhost:9092
    """
    from cli.output import emit
    from cli.selection import opened
    from cli.verbs.config.listing import settings_of_groups

    with opened(source) as groups:
        document = settings_of_groups(groups, selection, every=every)
    emit(document, output)


def get(
    *,
    group: Group,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]…", help="Only these settings.", show_default=False)
    ] = None,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Show a group's settings and where they come from.

    Shows the values in force, and the bounds that the brokers set.

    \b
    Examples:
      kohort config get billing -b localhost:9092
      kohort config get billing consumer.session.timeout.ms -b localhost:9092
    """
    from cli.output import emit
    from cli.selection import opened
    from cli.verbs.config.action import config_document, missing_group, read_configs

    with opened(source) as groups:
        configs = read_configs(groups, group, names or ())
        problems = missing_group(groups, group, configs)
    emit(config_document(group, configs, problems), output)


def set_(
    *,
    group: Group,
    values: Annotated[
        list[str],
        typer.Argument(metavar="NAME=VALUE…", help="Settings, such as consumer.session.timeout.ms=45000."),
    ],
    consent: ClusterConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Set settings for one group, within the brokers' bounds.

    Shows the settings before and after; nothing is changed without --execute.

    \b
    Examples:
      kohort config set fraud consumer.session.timeout.ms=60000 -b localhost:9092
    """
    from cli.changing import carry_out
    from cli.selection import opened_for_change
    from cli.verbs.config.action import parse_values, plan_config_change

    changes = parse_values(values)
    with opened_for_change(source, execute=consent.execute) as (groups, _):
        change = plan_config_change(groups, group, changes, command="config set")
        carry_out(change, consent, output, groups)


def unset(
    *,
    group: Group,
    names: Annotated[list[str], typer.Argument(metavar="NAME…", help="Settings to remove.")],
    consent: ClusterConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Remove a group's own settings.

    The brokers' settings apply again. Shows the settings before and after; nothing is changed without --execute.

    \b
    Examples:
      kohort config unset fraud consumer.session.timeout.ms -b localhost:9092
    """
    from cli.changing import carry_out
    from cli.selection import opened_for_change
    from cli.verbs.config.action import plan_config_change

    with opened_for_change(source, execute=consent.execute) as (groups, _):
        change = plan_config_change(groups, group, dict.fromkeys(names), command="config unset")
        carry_out(change, consent, output, groups)
