"""`kohort top`."""

from dataclasses import replace

from cli.options import ClustersOptions
from cli.verbs.top.options import TopOptions, TopSelection
from cli.web_guard_options import GuardOptions


def top(
    *, selection: TopSelection, options: TopOptions, guard: GuardOptions, source: ClustersOptions
) -> None:
    """Look at groups in full screen, live or in the past.

    The list shows every group with its state, lag and health; Enter opens one, Escape goes back, ? shows the keys
    of the screen, q quits. Nothing is changed without a preview and consent.

    \b
    Examples:
      kohort top -b localhost:9092
      kohort top billing --snapshot fleet.yaml
      kohort top --match ^payments -b localhost:9092
      kohort top --all-contexts
    """
    from cli.verbs.top.action import run_top

    run_top(replace(options, selection=selection), guard, source)
