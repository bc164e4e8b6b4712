"""`kohort features list` and `set`."""

from typing import Annotated

import typer

from cli.consent import ClusterConsent
from cli.options import OutputOptions, SourceOptions, option


def list_features(*, source: SourceOptions, output: OutputOptions) -> None:
    """Show the supported and finalized levels of features.

    A feature is off at level 0. Offline, only finalized levels are known.

    \b
    Examples:
      kohort features list -b localhost:9092
    """
    from cli.output import emit
    from cli.selection import opened
    from cli.verbs.features.listing import features_document, read_features

    with opened(source) as groups:
        features = read_features(groups)
    emit(features_document(features), output)


def set_(
    *,
    levels: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FEATURE=LEVEL]…", help="Features, such as group.version=1.", show_default=False
        ),
    ] = None,
    release_version: Annotated[
        str | None, option("--release-version", "Set all features to the levels of this release.", "RELEASE")
    ] = None,
    downgrade: Annotated[bool, option("--downgrade", "Allow lower levels.")] = False,
    unsafe: Annotated[
        bool, option("--unsafe", "Allow lower levels even if the cluster loses metadata.")
    ] = False,
    consent: ClusterConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Finalize levels of features: all of them, or none.

    Shows what each level means, and which groups a lower one turns off. The brokers check the change; nothing is
    changed without --execute.

    \b
    Examples:
      kohort features set group.version=1 -b localhost:9092
      kohort features set group.version=0 --downgrade -b localhost:9092
    """
    from cli.changing import carry_out
    from cli.selection import opened_for_change
    from cli.verbs.features.setting import LevelsRequest, plan_features

    request = LevelsRequest.parse(levels or (), release_version, downgrade=downgrade, unsafe=unsafe)
    with opened_for_change(source, execute=consent.execute) as (groups, _):
        carry_out(plan_features(groups, request), consent, output, groups)
