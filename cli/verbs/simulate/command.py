"""`kohort simulate`, and the options that it shares with `kohort fleet simulate`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, option


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


def simulate(
    *,
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="[SCENARIO]", help="Name of a built-in scenario, random, or a file; - is standard input."
        ),
    ] = None,
    seeds: Annotated[int, option("--seeds", "Number of seeds to play.", "N", min=1, max=100_000_000)] = 1,
    seed: Annotated[
        int,
        option(
            "--seed", "First seed; the same seed always gives the same result.", "S", min=0, max=2**63 - 1
        ),
    ] = 1,
    protocol: Protocol = ProtocolOption.AS_WRITTEN,
    set_: Annotated[
        list[str] | None, option("--set", "Override a setting of the scenario; repeatable.", "NAME=VALUE")
    ] = None,
    break_: BrokenRule = None,
    limit: Limit = None,
    jobs: Annotated[
        int | None, option("--jobs", "Number of processes; by default one per core.", "N", min=1, max=1024)
    ] = None,
    story: Annotated[bool, option("--story", "Print every event as a line.")] = False,
    svg: Annotated[Path | None, option("--svg", "Draw a lane for each member as SVG.", "FILE")] = None,
    list_: Annotated[bool, option("--list", "List the scenarios that ship with Kohort.")] = False,
    output: OutputOptions,
) -> None:
    """Simulate a group: members, coordinator and network.

    Runs a scenario in simulated time, from a seed; needs no broker. Exit status: 0 all invariants hold; 1 one does
    not, or a run was stopped at --limit.

    \b
    Examples:
      kohort simulate --list
      kohort simulate crash --story
    """
    _simulate(
        scenario,
        protocol.value,
        seed,
        seeds,
        limit,
        jobs,
        set_,
        break_,
        svg,
        output,
        story=story,
        list_=list_,
    )


def _simulate(
    scenario: str | None,
    protocol: str,
    seed: int,
    seeds: int,
    limit: int | None,
    jobs: int | None,
    set_: list[str] | None,
    break_: str | None,
    svg: Path | None,
    output: OutputOptions,
    *,
    story: bool,
    list_: bool,
) -> None:
    from cli.errors import UsageError
    from cli.output import emit
    from cli.verbs.simulate.action import carry_out, read, request_of, status_of
    from cli.verbs.simulate.picture import write_picture
    from cli.verbs.simulate.view import listing_document, simulation_document

    if list_:
        if scenario is not None:
            raise UsageError("--list shows all scenarios; name none with it")
        emit(listing_document(), output)
        return
    if scenario is None:
        raise UsageError(
            "name a scenario, or a file; `kohort simulate --list` shows those that ship with Kohort"
        )
    request = request_of(
        read(scenario),
        protocol,
        first=seed,
        count=seeds,
        limit=limit,
        jobs=jobs,
        settings=set_ or (),
        break_rule=break_,
    )
    simulated = carry_out(request)
    if svg is not None:
        write_picture(svg, simulated)
    emit(simulation_document(simulated, story=story), output, status_of(simulated))
