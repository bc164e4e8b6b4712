"""`kohort explore`: all interleavings of a small group, and the properties violated without a safety rule."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import OutputOptions, option
from cli.progress import Progress
from coordinator.configs.release import Release
from wire.suggestion import did_you_mean

if TYPE_CHECKING:
    from cli.render.cells import Cell
    from cli.render.document import Block, Document
    from coordinator.simulation.exploration.explorer import Exploration


def explore(
    *,
    world: Annotated[
        str, typer.Argument(metavar="[WORLD]", help="Group to explore; --list shows all of them.")
    ] = "published",
    broken: Annotated[
        str | None,
        option(
            "--break", "Disable this safety rule, in the world where it shows; all: each in turn.", "RULE"
        ),
    ] = None,
    limit: Annotated[
        int, option("--limit", "Stop after this many states.", "N", min=1, max=2**53)
    ] = 1_000_000,
    release: Annotated[
        Release | None, option("--release", "Release of Kafka to answer like; by default the newest.")
    ] = None,
    svg: Annotated[
        Path | None,
        option("--svg", "Draw the path to the first violation as SVG: the owners after each step.", "FILE"),
    ] = None,
    list_: Annotated[bool, option("--list", "List the worlds, and the rules that can be disabled.")] = False,
    output: OutputOptions,
) -> None:
    """Explore every interleaving of a small group.

    Runs the real group coordinator; needs no broker. Exit status: 0 all properties hold, or with --break each
    rule's property fails; 1 otherwise, or stopped at --limit.

    \b
    Examples:
      kohort explore --list
      kohort explore upgrade
    """
    _explore(world, broken, limit, release, svg, output, list_=list_)


def _explore(
    world: str,
    broken: str | None,
    limit: int,
    release: Release | None,
    svg: Path | None,
    output: OutputOptions,
    *,
    list_: bool,
) -> None:
    from cli.errors import ExitStatus
    from cli.output import emit
    from coordinator.simulation.exploration.explorer import explore as walk
    from coordinator.simulation.exploration.rules import RULES
    from coordinator.simulation.exploration.worlds import WORLDS, of_release

    if list_:
        emit(_listing(), output)
        return
    explorations: list[Exploration] = []
    if broken is None:
        spec = of_release(WORLDS[_known(world, WORLDS, "world")], release)
        with _Counter() as counter:
            explorations.append(walk(spec, limit=limit, progress=counter))
        succeeded = explorations[0].is_whole and not explorations[0].counterexamples
    else:
        rules = list(RULES.values()) if broken == "all" else [RULES[_known(broken, RULES, "rule")]]
        succeeded = True
        for rule in rules:
            spec = replace(of_release(WORLDS[rule.world], release), perturbations=rule.perturbations)
            with _Counter() as counter:
                without = walk(
                    spec,
                    limit=limit,
                    broken=rule.name,
                    breaking=rule.breaking,
                    progress=counter,
                    stop_at_first=True,
                    only_where_needed=rule.must_be_needed,
                )
            explorations.append(without)
            succeeded = succeeded and bool(without.counterexamples)
            if without.is_interrupted:
                break
    if svg is not None:
        _draw(svg, explorations)
    status = ExitStatus.DONE if succeeded else ExitStatus.FALSE
    emit(
        _document(explorations), output, ExitStatus.INTERRUPTED if explorations[-1].is_interrupted else status
    )


class _Counter(Progress):
    """The progress: the share of the states found so far that has been explored."""

    def __init__(self) -> None:
        super().__init__("exploring states", total=100, before_data=True)

    def __call__(self, seen: int, waiting: int) -> None:
        self.at(100 * (seen - waiting) // max(1, seen))


def _draw(file: Path, explorations: Sequence[Exploration]) -> None:
    """Draw a lane for each member and a column for each step. CommandError if no property was violated."""
    from cli.errors import CommandError
    from cli.output import write_file
    from cli.render.lanes import Drawing, Label, Lane, columns_axis, draw_file, named_box, runs

    first = next(
        ((exploration, fall) for exploration in explorations for fall in exploration.counterexamples), None
    )
    if first is None:
        raise CommandError("--svg: no property was violated, so there is no path to draw")
    explored, fall = first
    axis = columns_axis(len(fall.owned), left=60, widest=60)
    lanes = []
    for name in explored.spec.members:
        owned = [
            " ".join(f"{topic}-{number}" for topic, number in sorted(step.get(name) or ()))
            for step in fall.owned
        ]
        boxes = [
            named_box(run, words, f"{name}, from step {run.start + 1} on: {words}", axis.unit)
            for words, run in runs(owned)
            if words
        ]
        lanes.append(Lane(height=32, texts=(Label(name, y=15),), spans=boxes))
    steps = tuple(
        Label(str(number + 1), y=12, at=number, shift=axis.unit / 2, style="middle", title=line)
        for number, line in enumerate(fall.trace)
    )
    lanes.append(Lane(height=22, texts=steps))
    rule = f" without {explored.broken}" if explored.broken else ""
    title = f"The shortest path to a violation of {fall.name}{rule}: the partitions of each member after each step"
    write_file(file, draw_file(Drawing(title=title, axis=axis, lanes=lanes)))


def _known(name: str, known: Collection[str], what: str) -> str:
    from cli.errors import UsageError

    if name in known:
        return name
    hint = did_you_mean(name, known)
    raise UsageError(f"there is no {what} {name!r}{hint}\n`kohort explore --list` lists them")


def _listing() -> Document:
    from cli.render.document import Document, table_of
    from coordinator.simulation.exploration.rules import RULES
    from coordinator.simulation.exploration.worlds import WORLDS

    return Document(
        command="explore",
        data={
            "worlds": [{"world": world.name, "summary": world.summary} for world in WORLDS.values()],
            "rules": [
                {"rule": rule.name, "summary": rule.summary, "world": rule.world} for rule in RULES.values()
            ],
        },
        blocks=(
            table_of(list(WORLDS.values()), ("WORLD", "name"), ("DESCRIPTION", "summary")),
            table_of(list(RULES.values()), ("RULE", "name"), ("DESCRIPTION", "summary"), ("WORLD", "world")),
        ),
    )


def _document(explorations: Sequence[Exploration]) -> Document:
    from cli.render.document import Document

    return Document(
        command="explore",
        data={"worlds": [_data(exploration) for exploration in explorations]},
        blocks=list(_blocks(explorations)),
        remarks=tuple(_remarks(explorations)),
    )


def _data(exploration: Exploration) -> dict[str, object]:
    fallen = {fall.name: fall for fall in exploration.counterexamples}
    return {
        "world": exploration.spec.name,
        "states": exploration.states,
        "transitions": exploration.transitions,
        "depth": exploration.depth,
        "whole": exploration.is_whole,
        "broken": exploration.broken,
        "invariants": [
            *({"name": name, "holds": True, "trace": []} for name in exploration.holds),
            *({"name": name, "holds": False, "trace": list(fall.trace)} for name, fall in fallen.items()),
        ],
    }


def _blocks(explorations: Sequence[Exploration]) -> Iterator[Block]:
    from cli.render.document import Code, Heading, Table, columns

    rows: list[list[Cell]] = [
        [
            exploration.spec.name,
            exploration.broken or "-",
            exploration.states,
            exploration.transitions,
            exploration.depth,
            ", ".join(fall.name for fall in exploration.counterexamples) or "-",
        ]
        for exploration in explorations
    ]
    yield Table(
        columns=columns("WORLD", "WITHOUT-RULE", "#STATES", "#TRANSITIONS", "#DEPTH", "VIOLATED"), rows=rows
    )
    for exploration in explorations:
        if exploration.broken is None:
            results: list[list[Cell]] = [
                [name, "holds" if exploration.is_whole else "holds so far"] for name in exploration.holds
            ]
            results += [
                [fall.name, f"violated after {len(fall.trace)} steps"] for fall in exploration.counterexamples
            ]
            yield Table(columns=columns("PROPERTY", "RESULT"), rows=results)
        for fall in exploration.counterexamples:
            rule = f" without {exploration.broken}" if exploration.broken else ""
            yield Heading(f"{fall.name}{rule}")
            yield Code(fall.trace, language="text")


def _remarks(explorations: Sequence[Exploration]) -> Iterator[str]:
    for exploration in explorations:
        if exploration.is_interrupted:
            yield f"{exploration.spec.name}: interrupted; these are the results so far"
        elif not exploration.is_whole and not exploration.counterexamples:
            yield f"{exploration.spec.name}: stopped at --limit, before all states were visited"
