"""`kohort rehearse`."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import OutputOptions, SourceOptions, option
from cli.verbs.dry_run.options import ApplicationOptions


def rehearse(
    *,
    plan: Annotated[
        Path,
        typer.Argument(metavar="PLAN", help="Plan file, written by `kohort plan --output yaml` or json."),
    ],
    seeds: Annotated[int, option("--seeds", "Number of seeds to rehearse.", "N", min=1, max=1_000_000)] = 1,
    seed: Annotated[
        int,
        option("--seed", "First seed; the same seed always gives the same result.", "S", min=0, max=2**53),
    ] = 1,
    stop_at: Annotated[
        str | None, option("--stop-at", "Roll back after this round, such as 2.1.", "STEP.ROUND")
    ] = None,
    mistakes: Annotated[
        bool,
        option(
            "--mistakes", "Also play operator mistakes: their symptoms, and whether the gates catch them."
        ),
    ] = False,
    as_migrate: Annotated[
        bool,
        option("--as-migrate", "Play how `kohort migrate` carries it out, with commands that fail."),
    ] = False,
    faults: Annotated[
        Path | None,
        option(
            "--faults", "YAML file of network, coordinator and process faults during the rehearsal.", "FILE"
        ),
    ] = None,
    client_config: Annotated[
        list[str] | None,
        option(
            "--client-config",
            "Configuration of the members: heartbeats, sessions and commits follow it.",
            "[MEMBER|LIBRARY=]FILE",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        option("--set", "Use this setting of the brokers or of all members; repeatable.", "NAME=VALUE"),
    ] = None,
    story: Annotated[bool, option("--story", "Print every event as a line.")] = False,
    svg: Annotated[
        Path | None, option("--svg", "Draw the owners round by round as SVG, for one of the seeds.", "FILE")
    ] = None,
    streams: ApplicationOptions,
    source: SourceOptions,
    output: OutputOptions,
) -> None:
    """Rehearse a plan on the group, in simulated time.

    Shows what each round costs, and whether it is safe. Nothing is changed. Exit status: 0 safe in every seed; 1 an
    invariant fails, or a gate opens too early, opens despite a mistake, or never opens; 2 the plan
    is for another group, or the group has changed.

    With --as-migrate each seed carries the plan out as `kohort migrate` does, while commands fail,
    members die, and Kohort is killed. Exit status 1: it harmed the group, or did not say so.

    \b
    Examples:
      kohort plan billing --to cooperative --output yaml > plan.yaml
      kohort rehearse plan.yaml --seeds 10
      kohort rehearse plan.yaml --seeds 1000 --as-migrate
    """
    from cli.selection import opened
    from cli.verbs.dry_run.tasks import streams_request
    from cli.verbs.gate.action import NotesFile
    from cli.verbs.plan.action import configs_of
    from cli.verbs.plan.files import read_plan
    from cli.verbs.rehearse.action import find, request_of
    from cli.verbs.rehearse.as_migrate import emit_rehearsal
    from cli.verbs.simulate.action import settings_of

    read, configs = read_plan(plan), configs_of(client_config or ())
    with opened(source) as groups:
        facts = find(read, groups)
    request = request_of(
        read,
        facts,
        first=seed,
        count=seeds,
        stop_at=stop_at,
        mistakes=mistakes,
        faults=faults,
        configs=configs,
        notes=NotesFile.of_plan(plan, read, is_written=False).notes,
        settings=settings_of(set_ or ()),
        streams=streams_request(streams),
    )
    others = {"--stop-at": stop_at, "--mistakes": mistakes, "--faults": faults, "--svg": svg}
    emit_rehearsal(request, output, others, story=story, svg=svg, as_migrate=as_migrate)
