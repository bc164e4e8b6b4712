"""`kohort bridge`."""

from typing import Annotated

import typer

from cli.consent import ClusterConsent
from cli.options import OutputOptions, SourceOptions, option


def bridge(
    *,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="A classic group.", show_default=False)],
    watch: Annotated[
        bool, option("--watch", "With --execute, print each step of the bridge as a line.")
    ] = False,
    consent: ClusterConsent,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Lead a classic group until a broker can convert it.

    A broker cannot convert a group whose leader writes user data into the assignments (librdkafka's
    cooperative-sticky, sarama's sticky). The bridge joins such a group as a member without partitions, and leads
    it. It leaves when the first member of the consumer protocol has converted the group, or on Ctrl-C.

    \b
    Examples:
      kohort bridge clickstream -b localhost:9092
      kohort bridge clickstream -b localhost:9092 --execute --watch
    """
    from cli.verbs.bridge.action import bridge_group

    bridge_group(group, consent, source, output, watch=watch)
