"""`kohort simulate`, and the options that it shares with `kohort fleet simulate`."""

import os
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, option
from coordinator.configs.release import RELEASE, Release


class ProtocolOption(Enum):
    """`--protocol`."""

    AS_WRITTEN = "as-written"
    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"
    ALL = "all"


Protocol = Annotated[
    ProtocolOption, option("--protocol", "Protocol of the members; all compares the last three.")
]
BrokenRule = Annotated[
    str | None, option("--break", "Disable this safety rule, to see which invariant breaks.", "RULE")
]
Limit = Annotated[
    int | None, option("--limit", "Stop a run after this many steps.", "STEPS", min=1, max=2**53)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """What to simulate, and what to show of it."""

    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="[SCENARIO]", help="Name of a built-in scenario, random, or a file; - is standard input."
        ),
    ] = None
    seeds: Annotated[int, option("--seeds", "Number of seeds to play.", "N", min=1, max=100_000_000)] = 1
    seed: Annotated[
        int,
        option(
            "--seed", "First seed; the same seed always gives the same result.", "S", min=0, max=2**63 - 1
        ),
    ] = 1
    protocol: Protocol = ProtocolOption.AS_WRITTEN
    set_: Annotated[
        list[str] | None, option("--set", "Override a setting of the scenario; repeatable.", "NAME=VALUE")
    ] = None
    release: Annotated[
        Release | None, option("--release", "Release of Kafka to answer like; by default the newest.")
    ] = None
    break_: BrokenRule = None
    limit: Limit = None
    jobs: Annotated[
        int | None, option("--jobs", "Number of processes; by default one per core.", "N", min=1, max=1024)
    ] = None
    story: Annotated[bool, option("--story", "Print every event as a line.")] = False
    metrics: Annotated[
        bool, option("--metrics", "Print the rebalance metrics of each consumer at the end.")
    ] = False
    svg: Annotated[Path | None, option("--svg", "Draw a lane for each member as SVG.", "FILE")] = None
    list_: Annotated[bool, option("--list", "List the scenarios that ship with Kohort.")] = False


def simulate(*, options: SimulateOptions, output: OutputOptions) -> None:
    """Simulate a group: members, coordinator and network.

    Runs a scenario in simulated time, from a seed; needs no broker. Exit status: 0 all invariants hold; 1 one does
    not, or a run was stopped at --limit.

    \b
    Examples:
      kohort simulate --list
      kohort simulate crash --story
    """
    _simulate(options, output)


def _simulate(options: SimulateOptions, output: OutputOptions) -> None:
    from cli.errors import UsageError
    from cli.output import emit
    from cli.verbs.simulate import action
    from cli.verbs.simulate.picture import write_picture
    from cli.verbs.simulate.view import listing_document, simulation_document
    from coordinator.simulation.run import LIMIT

    if options.list_:
        if options.scenario is not None:
            raise UsageError("--list shows all scenarios; name none with it")
        emit(listing_document(), output)
        return
    if options.scenario is None:
        raise UsageError(
            "name a scenario, or a file; `kohort simulate --list` shows those that ship with Kohort"
        )
    source = action.read(options.scenario)
    action.check_rule(options.break_)
    request = action.PlayRequest(
        source=source,
        variants=action.variants_of(options.protocol.value),
        seeds=range(options.seed, options.seed + options.seeds),
        limit=options.limit or LIMIT,
        processes=options.jobs or len(os.sched_getaffinity(0)),
        settings={
            **action.settings_of(options.set_ or ()),
            **({} if options.release is None else {RELEASE: options.release.value}),
        },
        break_rule=options.break_,
    )
    for variant in request.variants if request.settings else ():
        action.check_settings(source, request.settings, variant, options.seed)
    simulated = action.carry_out(request)
    if options.svg is not None:
        write_picture(options.svg, simulated)
    emit(
        simulation_document(simulated, story=options.story, metrics=options.metrics),
        output,
        action.status_of(simulated),
    )
