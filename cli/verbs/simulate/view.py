"""The documents of `kohort simulate`: the costs of each protocol side by side, and the story of a violation."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from operator import itemgetter

from cli.render import document as documents
from cli.render.cells import Cell
from cli.verbs.simulate.action import RANDOM, ProtocolRuns, SimulationResult
from cli.verbs.simulate.picture import picture_of
from coordinator.consumer.outputs import AssignorMethod, Partitions
from coordinator.simulation.result import AssignorCalled, MemberMetrics, RunResult, StoryEntry, Violation
from coordinator.simulation.run import replay_command
from coordinator.simulation.scenario_checks import missing_topics
from coordinator.simulation.scenario_file import shipped_names, shipped_scenario
from coordinator.simulation.scenario_text import scenario_text
from coordinator.simulation.seeds import median_and_worst
from groups.counts import counted, first_names
from groups.model import by_topic

MOST_LINES = 200  # Most lines of a story that was not requested; earlier lines are omitted
MOST_SEEDS = 20  # Most seeds that are named
_COLUMNS = (
    "#REBALANCES", "#MOVED", "#UNOWNED-TIME", "#READ-TWICE", "#CONVERGED", "#CALLBACKS", "#THROWN",
    "#ZOMBIE-OVERLAP", "#VIOLATIONS", "#KNOWN",
)  # fmt: skip


def listing_document() -> documents.Document:
    """The scenarios that ship with Kohort, and the random ones."""
    shipped = [shipped_scenario(name) for name in shipped_names()]
    listed = [(scenario.name, scenario.description.partition("\n")[0]) for scenario in shipped]
    listed.append((RANDOM.name, RANDOM.description))
    return documents.Document(
        command="simulate",
        data={"scenarios": [{"scenario": name, "description": first} for name, first in listed]},
        blocks=(documents.table_of(listed, ("SCENARIO", itemgetter(0)), ("DESCRIPTION", itemgetter(1))),),
    )


def simulation_document(
    simulated: SimulationResult, *, story: bool, metrics: bool = False
) -> documents.Document:
    """A row per protocol; `story` and `metrics` add the events and the consumers' metrics of the shown runs."""
    request = simulated.request
    shown = ((runs.shown, runs) for runs in simulated.runs if runs.shown is not None)
    data = [_run_data(result, runs, request.seeds, story=story) for result, runs in shown]
    return documents.Document(
        command="simulate",
        data={"scenario": request.source.name, "seed": request.seeds[0], "runs": data},
        blocks=list(_blocks(simulated, story=story, metrics=metrics)),
        remarks=tuple(_remarks(simulated)),
    )


def _blocks(simulated: SimulationResult, *, story: bool, metrics: bool) -> Iterator[documents.Block]:
    request = simulated.request
    yield documents.Heading(request.source.name, level=1)
    if request.source.description:
        yield documents.Text(" ".join(request.source.description.split()))
    yield _table(simulated)
    for runs in simulated.runs:
        if runs.shown is None:
            continue
        yield documents.Heading(
            f"{runs.variant.value.replace('-', ' ').capitalize()}, seed {runs.shown.seed}"
        )
        yield picture_of(runs.shown)
        if metrics:
            yield metrics_table(runs.shown.metrics)
        if story and request.source.is_random:
            yield documents.Code(tuple(scenario_text(runs.shown.scenario).splitlines()), language="yaml")
        if runs.shown.violations:
            yield from _violations(simulated, runs, runs.shown)
        elif story:
            yield documents.Code(tuple(_lines(runs.shown.story)) or ("nothing happened",), language="text")


def metrics_table(metrics: MemberMetrics) -> documents.Table:
    """A row per metric; a member without metrics has one empty row."""
    rows: list[list[Cell]] = []
    for member, values in sorted(metrics.items()):
        if values is None:
            rows.append([member, None, None])
        else:
            rows += [[member, metric, value] for metric, value in values.items()]
    return documents.Table(columns=documents.columns("MEMBER", "METRIC", "#VALUE"), rows=rows)


def _table(simulated: SimulationResult) -> documents.Table:
    """A row per protocol; with several seeds two rows, for the median and the worst value of each figure."""
    rows: list[list[Cell]] = []
    one_seed = len(simulated.request.seeds) == 1
    for runs in simulated.runs:
        played = len(runs.played)
        costs = median_and_worst([run.costs for run in runs.played]) if played else ()
        for name, figures in zip(("median", "worst"), costs, strict=False):
            about: list[Cell] = [] if one_seed else [played, name]
            rows.append([runs.variant.value, *about, *documents.cells_of(asdict(figures))])
    if one_seed:  # its costs are the median and the worst
        return documents.Table(columns=documents.columns("PROTOCOL", *_COLUMNS), rows=rows[::2])
    return documents.Table(columns=documents.columns("PROTOCOL", "#SEEDS", "FIGURES", *_COLUMNS), rows=rows)


def _violations(
    simulated: SimulationResult, runs: ProtocolRuns, result: RunResult
) -> Iterator[documents.Block]:
    """The violations of the shrunk run if there is one: it is a shorter story of the same invariant."""
    shown = runs.shrunk or result
    violation = min(shown.violations, key=lambda violation: bool(violation.known))
    yield documents.Text(
        f"{violation.invariant} does not hold at {violation.at_s:.3f} s: {violation.message}"
        f"{f' (a known weakness of the rules of Kafka: {violation.known})' if violation.known else ''}."
    )
    lines = violation.story or tuple(_lines(shown.story))
    left_out = len(lines) - MOST_LINES
    first = (f"({left_out} lines before)",) if left_out > 0 else ()
    yield documents.Code((*first, *lines[-MOST_LINES:]), language="text")
    more = len(shown.violations) - 1
    also = f" {counted(more, 'more violation')} followed." if more > 0 else ""
    request, rule = simulated.request, simulated.request.break_rule
    replay = replay_command(
        request.source.called, result.seed, variant=result.variant, settings=request.settings, break_rule=rule
    )
    yield documents.Text(f"To replay all of it: `{replay}`.{also}")
    if runs.shrunk is not None:
        kept, all_ = len(runs.shrunk.scenario.events), len(result.scenario.events)
        yield documents.Text(
            f"These are the events of {kept} of the scenario's {counted(all_, 'event')}; this file breaks "
            f"{violation.invariant} with `--seed {runs.shrunk.seed}{f' --break {rule}' if rule else ''}`:"
        )
        yield documents.Code(tuple(scenario_text(runs.shrunk.scenario).splitlines()), language="yaml")


def _lines(story: Sequence[StoryEntry]) -> Iterator[str]:
    width = max((len(entry.who) for entry in story), default=0)
    return (f"{entry.at_s:>9.3f} s  {entry.who:<{width}}  {entry.what}" for entry in story)


def _remarks(simulated: SimulationResult) -> Iterator[str]:
    request = simulated.request
    if request.source is not RANDOM:
        yield from missing_topics(request.scenario_of(request.seeds[0]))
    for runs in simulated.runs:
        if runs.failing and len(request.seeds) > 1:
            broke = f"{len(runs.failing):,} of {counted(len(runs.played), 'seed')} broke an invariant"
            if runs.unexplained:
                known = len(runs.failing) - len(runs.unexplained)
                others = f", {known:,} by known weaknesses of Kafka's rules; the others" if known else ""
                yield f"{runs.variant.value}: {broke}{others}: {_named(runs.unexplained)}"
            else:
                yield f"{runs.variant.value}: {broke}, by known weaknesses of Kafka's rules: {_named(runs.failing)}"
        if runs.cut and not simulated.is_interrupted:
            yield (
                f"{runs.variant.value}: stopped after {counted(request.limit, 'step')} (--limit), before its end: "
                f"seed {_named(runs.cut)}"
            )
    if simulated.is_interrupted:
        done = sum(len(runs.played) for runs in simulated.runs)
        total = len(request.seeds) * len(request.variants)
        yield f"interrupted: the results of {done:,} of {counted(total, 'run')}"


def _named(seeds: Sequence[int]) -> str:
    return first_names([*map(str, seeds)], MOST_SEEDS)


def _run_data(result: RunResult, runs: ProtocolRuns, seeds: range, *, story: bool) -> dict[str, object]:
    middle, worst = median_and_worst([played.costs for played in runs.played])
    shrunk = runs.shrunk
    data: dict[str, object] = {
        "protocol": result.variant.value,
        "seed": result.seed,
        "callbacks": [
            {"at": call.at_s, "member": call.member, "callback": call.kind.value,
             "partitions": _partitions(call.partitions)}
            for call in result.callbacks
        ],
        "assignor_calls": list(map(_assignor_call, result.assignor_calls)),
        "thrown": [
            {"at": error.at_s, **documents.fields(error, "member", "error", "message")} for error in result.thrown
        ],
        "final": {member: _partitions(owned) for member, owned in sorted(result.final.items())},
        "metrics": dict(sorted(result.metrics.items())),
        **documents.fields(result, "rebalances", "moved", "without_owner_s", "read_twice", "converged_s"),
        "zombie_overlaps": [
            {**documents.fields(overlap, "member", "other", "topic", "partition"), "at": overlap.start_s,
             "length_s": overlap.length_s}
            for overlap in result.zombies
        ],
        "violations": list(map(_violation, result.violations)),
        "shrunk": shrunk and {
            "events": len(shrunk.scenario.events),
            "scenario": scenario_text(shrunk.scenario),
            "violations": list(map(_violation, shrunk.violations)),
        },
        **documents.fields(result, "requests", "ended_s", "is_cut"),
        "seeds": {
            "count": len(runs.played),
            "first": seeds[0],
            "requests": sum(played.requests for played in runs.played),
            "median": asdict(middle),
            "worst": asdict(worst),
            **documents.fields(runs, "failing", "unexplained", "cut"),
        },
    }  # fmt: skip
    if story:
        data["story"] = [{"at": entry.at_s, "who": entry.who, "what": entry.what} for entry in result.story]
    return data


def _assignor_call(called: AssignorCalled) -> dict[str, object]:
    call, takes = called.call, called.call.method
    on_assignment = takes is AssignorMethod.ON_ASSIGNMENT
    takes_topics = takes in (AssignorMethod.SUBSCRIPTION_USER_DATA, AssignorMethod.METADATA)
    group = call.group
    return {
        "at": called.at_s,
        **documents.fields(called, "callbacks_before", "member"),
        "assignor": call.assignor,
        "call": takes.value,
        "topics": list(call.topics) if takes_topics else None,
        "partitions": _partitions(call.partitions) if on_assignment else None,
        "user_data": _base64(call.user_data),
        "version": call.metadata and call.metadata.version,
        "reason": call.metadata and call.metadata.reason,
        "error_code": call.error_code if on_assignment else None,
        "group": group and documents.fields(group, "generation", "member", "instance"),
        "members": [
            {
                "member": share.member,
                "sent": _base64(share.sent),
                "partitions": _partitions(share.partitions),
                "user_data": _base64(share.user_data),
            }
            for share in call.members
        ]
        if takes is AssignorMethod.ASSIGN
        else None,
        "error": call.error or None,
    }


def _base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def _violation(violation: Violation) -> dict[str, object]:
    known, story = violation.known or None, list(violation.story)
    at = {"invariant": violation.invariant, "at": violation.at_s}
    return {**at, "message": violation.message, "known": known, "story": story}


def _partitions(partitions: Partitions) -> dict[str, list[int]]:
    return {topic: list(numbers) for topic, numbers in by_topic(partitions).items()}
