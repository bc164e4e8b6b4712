"""`kohort simulate`: runs of scenarios, what they cost, and what is said of one that goes wrong."""

import json
import signal
import subprocess
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.output import render
from cli.render.output_format import OutputFormat
from cli.verbs.simulate.action import PlayRequest, ProtocolRuns, ScenarioSource, SimulationResult, status_of
from cli.verbs.simulate.picture import MOST_ROWS, write_picture
from cli.verbs.simulate.view import simulation_document
from coordinator.consumer.outputs import CallbackKind, TopicPartition
from coordinator.simulation import result as made
from coordinator.simulation.scenario import Variant
from coordinator.simulation.scenario_file import parse_scenario, shipped_names, shipped_scenario
from coordinator.simulation.seeds import RunCosts, always, median_and_worst, play_seeds, summary_of
from tests.cli.command import Answer, Kohort
from tests.cli.schemas import faults
from tests.coordinator.simulation.recordings import STORIES
from tests.kafka.wait import wait_until
from tests.support.golden import assert_recorded
from tests.support.html_pages import Page
from tests.support.signals import handled_interrupts
from tests.support.weighted_assignor import offered

SCALE_OUT = {"a": [0, 1], "b": [2, 3], "c": [4], "d": [5]}  # What range gives four members of six partitions


def test_a_scenario_is_played_to_its_end(kohort: Kohort) -> None:
    document = kohort.quick("simulate scale-out --output json").succeeded(stderr="").document
    (run,) = document["runs"]
    assert (document["scenario"], document["seed"], run["protocol"]) == ("scale-out", 1, "as-written")
    assert run["final"] == {member: {"orders": numbers} for member, numbers in SCALE_OUT.items()}
    assert (run["rebalances"], run["violations"], run["is_cut"]) == (3, [], False)
    # All of the first assignment is revoked before the second one: range is eager.
    of_a = [
        (callback["callback"], callback["partitions"]["orders"])
        for callback in run["callbacks"]
        if callback["member"] == "a"
    ]
    assert of_a[:3] == [("assigned", [0, 1, 2]), ("revoked", [0, 1, 2]), ("assigned", [0, 1])]


def test_calls_of_custom_assignors_are_shown_as_recorded(kohort: Kohort) -> None:
    """A31: in the story next to those of the listener, in JSON with all that they take and return."""
    with offered():
        answer = kohort.quick(
            "simulate --story --output json", STORIES / "assignor-not-chosen.yaml"
        ).succeeded()
    (run,) = answer.document["runs"]
    lines = [f"{line['at']} {line['who']} {line['what']}" for line in run["story"] if line["who"] in "abc"]
    known = [
        {key: value for key, value in call.items() if value is not None} for call in run["assignor_calls"]
    ]
    calls = {f"call {number}": json.dumps(call) for number, call in enumerate(known)}
    assert_recorded("simulate/assignor-calls.txt", {"story": "\n".join(lines), **calls})


def test_the_scenarios_are_listed(kohort: Kohort) -> None:
    listed = kohort.quick("simulate --list --output json").succeeded(stderr="").document["scenarios"]
    assert [row["scenario"] for row in listed] == [*shipped_names(), "random"]


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        ("simulate", 2, "kohort simulate --list"),
        ("simulate scaleout", 2, "no scenario 'scaleout' and no such file; did you mean scale-out?"),
        ("simulate ./none.yaml", 3, "none.yaml: cannot be read"),
        ("simulate crash --seeds 0", 2, "--seeds"),
        ("simulate --list crash", 2, "--list"),
    ],
)
def test_what_cannot_be_played_is_refused(kohort: Kohort, words: str, status: int, reason: str) -> None:
    kohort.quick(words).assert_refused(reason, status=status)


def test_a_file_and_standard_input_are_played(kohort: Kohort, tmp_path: Path) -> None:
    text = "kohort: 1\ntopics: {t: 1}\nmembers: {a: {topics: [t]}}\nevents: [{at: 1, start: a}]\nuntil: 30\n"
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    of_file = kohort.quick("simulate", file, "--output", "json").succeeded().document
    of_input = kohort.in_shell(f"simulate - --output json < '{file}'").succeeded().document
    assert of_file["runs"] == of_input["runs"]
    assert (of_file["scenario"], of_input["scenario"]) == ("mine", "stdin")


def test_a_run_that_is_stopped_says_so_and_fails(kohort: Kohort) -> None:
    answer = kohort.quick("simulate crash --limit 50 --output json")
    answer.assert_said(1, "as-written: stopped after 50 steps (--limit), before its end: seed 1")
    assert answer.document["runs"][0]["is_cut"]


def test_many_seeds_give_the_median_and_the_worst(kohort: Kohort) -> None:
    answer = kohort.quick("simulate crash --seeds 5 --seed 3 --jobs 1 --output json").succeeded(stderr="")
    (run,) = answer.document["runs"]
    assert (run["seed"], run["seeds"]["count"], run["seeds"]["first"]) == (3, 5, 3)
    rows = kohort.quick("simulate crash --seeds 5 --seed 3 --jobs 2 --output csv").succeeded().rows
    assert [(row["SEEDS"], row["FIGURES"]) for row in rows] == [("5", "median"), ("5", "worst")]
    assert float(rows[1]["UNOWNED-TIME-S"]) == pytest.approx(
        run["seeds"]["worst"]["without_owner_s"], abs=0.01
    )


def test_several_processes_give_what_one_gives_in_the_order_of_seeds() -> None:
    scenario = shipped_scenario("crash")
    seeds = range(10, 30)
    one, two = (
        list(play_seeds(always(scenario), Variant.COOPERATIVE, seeds, limit=10**6, processes=processes))
        for processes in (1, 2)
    )
    assert one == two
    assert [played.seed for played in one] == list(seeds)


def test_each_figure_has_its_own_median_and_worst() -> None:
    def costs(rebalances: int, converged_s: float | None) -> RunCosts:
        return RunCosts(
            rebalances=rebalances, moved=0, without_owner_s=0.0, read_twice=0, converged_s=converged_s, callbacks=0,
            thrown=0, zombie_overlap_s=0.0, violations=0, known=0,
        )  # fmt: skip

    assert median_and_worst([costs(3, 1.0), costs(1, None), costs(2, 2.0)]) == (costs(2, 2.0), costs(3, None))


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_shows_what_is_known(kohort: Kohort, jobs: int, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with handled_interrupts(), out.open("w") as stdout:
        process = subprocess.Popen(
            [kohort.executable, *f"simulate crash --seeds 100000000 --jobs {jobs} --output json".split()],
            stdout=stdout, stderr=subprocess.PIPE, text=True, env=kohort.env,
        )  # fmt: skip
        with process:
            wait_until(lambda: _cpu_ticks(process.pid) > 100 or process.poll() is not None, "it plays")
            process.send_signal(signal.SIGINT)
            stderr = process.communicate(timeout=60)[1]
    answer = Answer(status=process.returncode, stdout=out.read_text(), stderr=stderr)
    answer.assert_said(130, "interrupted: the results of ", "of 100,000,000 runs")
    (run,) = answer.document["runs"]
    assert 0 < run["seeds"]["count"] < 100_000_000
    assert not list(_children(process.pid))


def _cpu_ticks(pid: int) -> int:
    """What a process and its children have used."""
    pids = [pid, *_children(pid)]
    fields = [Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split() for process in pids]
    return sum(int(field[11]) + int(field[12]) for field in fields)


def _children(pid: int) -> Iterator[int]:
    for task in Path("/proc").glob(f"{pid}/task/*/children"):
        yield from map(int, task.read_text().split())


# A run that goes wrong, made by hand: the coordinator has no fault that could be shown.

ORDERS = frozenset({TopicPartition("orders", 0), TopicPartition("orders", 1)})
SCENARIO = parse_scenario(
    Path("mine.yaml"),
    "kohort: 1\ndescription: Two <members>.\ntopics: {orders: 2}\nmembers: {a: &m {topics: [orders]}, b: *m}\n"
    "events: [{at: 0, start: a}, {at: 1, start: b}, {at: 5, coordinator: crash, for: 2}, "
    "{at: 8, topic: orders, partitions: 4}]\n"
    "faults: {partition: {members: [b], from: 2, to: 3}}\nuntil: 20\n",
)


def _result(seed: int = 7, **changes: object) -> made.RunResult:
    owned, run = made.Ownership, made.Presence
    fields: dict[str, object] = {
        "scenario": SCENARIO, "variant": Variant.COOPERATIVE, "seed": seed,
        "callbacks": (made.CallbackCall(at_s=1.5, member="a", kind=CallbackKind.ASSIGNED, partitions=ORDERS),),
        "thrown": (made.RaisedException(at_s=6.0, member="b", error="CommitFailedException", message="no"),),
        "final": {"a": ORDERS, "b": frozenset()},
        "owners": (
            owned(member="a", topic="orders", partition=0, start_s=1.5, end_s=20.0),
            owned(member="b", topic="orders", partition=0, start_s=4.0, end_s=9.0, zombie_from_s=6.0),
        ),
        "presence": (run(member="a", start_s=0.0, end_s=20.0), run(member="b", start_s=1.0, end_s=20.0)),
        "metrics": {
            "a": {"rebalance-total": 2, "rebalance-latency-avg": 10 / 3, "rebalance-latency-max": None}, "b": None,
        },
        "rebalances": 2, "moved": 1, "without_owner_s": 0.5, "read_twice": 3, "converged_s": None, "ended_s": 20.0,
        "zombies": (
            made.ZombieOverlap(member="b", other="a", topic="orders", partition=0, start_s=6.0, length_s=3.0),
        ),
        "violations": (
            made.Violation(invariant="I1", at_s=4.0, message="a and b own orders 0",
                           story=("4.000 s  b  takes orders 0",)),
            made.Violation(invariant="I2", at_s=5.0, message="again"),
        ),
        "story": (made.StoryEntry(at_s=4.0, who="b", what="takes orders 0"),),
        **changes,
    }  # fmt: skip
    return made.RunResult(**fields)  # type: ignore[arg-type]


def _simulated(
    result: made.RunResult, *, seeds: range = range(7, 8), shrunk: made.RunResult | None = None
) -> SimulationResult:
    source = ScenarioSource(
        called="my file.yaml",
        name=SCENARIO.name,
        description=SCENARIO.description,
        scenario_of=always(SCENARIO),
    )
    request = PlayRequest(source=source, variants=(result.variant,), seeds=seeds, limit=9, processes=1)
    runs = ProtocolRuns(variant=result.variant, played=[summary_of(result)], shown=result, shrunk=shrunk)
    return SimulationResult(request=request, runs=[runs])


def test_documents_have_the_recorded_contents() -> None:
    known = made.Violation(invariant="I7", at_s=3.0, message="goes back", known="late-commit")
    text = "kohort: 1\ntopics: {orders: 2}\nmembers: {a: {topics: [orders]}}\nevents: [{at: 0, start: a}]\n"
    sooner = (made.Violation(invariant="I1", at_s=2.0, message="sooner"),)
    shrunk = _result(scenario=parse_scenario(Path("mine.yaml"), text), violations=sooner)
    both = _simulated(_result(violations=(known,)), seeds=range(7, 9))
    both.runs[0].played.append(summary_of(_result(8)))
    assert both.runs[0].shown_seed == 8
    results = {
        "a violation": _simulated(_result()),
        "a known weakness": _simulated(_result(violations=(known,)), seeds=range(7, 9)),
        "a known weakness, and another seed": both,
        "a shrunk run": _simulated(_result(), shrunk=shrunk),
        "no violation": _simulated(_result(violations=()), seeds=range(7, 17)),
    }
    answers = {}
    for name, simulated in results.items():
        document = simulation_document(simulated, story=True, metrics=True)
        assert faults(document.as_data()) == []
        shown = StringIO()
        render(document, OutputFormat.MARKDOWN, shown)
        data = json.dumps(document.as_data(), indent=1)
        answers[name] = f"{shown.getvalue()}{data}\n{document.remarks}, {status_of(simulated).name}"
    assert_recorded("simulate/documents.txt", answers)


def test_a_run_that_breaks_an_invariant_fails_and_is_shrunk(kohort: Kohort, tmp_path: Path) -> None:
    answer = kohort.quick("simulate version-0-member --seeds 2 --jobs 1 --output json")
    answer.assert_said(1, "as-written: 2 of 2 seeds broke an invariant: 1, 2")
    (run,) = answer.document["runs"]
    assert [violation["invariant"] for violation in run["violations"]] == ["I2"]
    file = tmp_path / "shrunk.yaml"
    file.write_text(run["shrunk"]["scenario"])
    again = kohort.quick(f"simulate '{file}' --seed {run['seed']} --output json").document["runs"][0]
    assert [violation["invariant"] for violation in again["violations"]] == ["I2"]


def _drawn(result: made.RunResult, tmp_path: Path) -> list[str]:
    """The titles of a picture, in order."""
    file = tmp_path / "drawn.svg"
    write_picture(file, _simulated(result))
    root = ElementTree.fromstring(file.read_text())
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")]


def test_pictures_have_the_recorded_titles(tmp_path: Path) -> None:
    """Many partitions are drawn as how many they are."""
    many = tuple(
        made.Ownership(
            member="a", topic="orders", partition=number, start_s=1.0, end_s=20.0 if number else 10.0
        )
        for number in range(MOST_ROWS + 1)
    )
    results = {"owners, callbacks, zombies, violations": _result(), "many partitions": _result(owners=many)}
    titles = {name: "\n".join(_drawn(result, tmp_path)) for name, result in results.items()}
    assert_recorded("simulate/titles.txt", titles)


def test_a_page_holds_the_picture_of_each_protocol(kohort: Kohort) -> None:
    page = Page(kohort.quick("simulate crash --protocol all --output html").succeeded().stdout)
    page.check_harmless()
    assert sum("owners" in title for title in page.texts["title"]) == 3
