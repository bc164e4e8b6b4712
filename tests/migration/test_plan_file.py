"""Plans as data: nothing is lost on the way there and back, and nonsense is refused with the field that holds it."""

import copy
import json
import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.classic_streams import Rebalancing
from groups.findings import Finding, Level
from groups.model import GroupState, GroupType, MemberProtocol
from groups.trees import Malformed
from groups.yaml_files import TreeError, load_tree, yaml_lines
from migration import model
from migration.plan_file import MAX_VALUES, condition_tag, plan_from_data, plan_to_data

CONDITIONS: tuple[model.Condition, ...] = (
    model.TypeIs(type=GroupType.CONSUMER),
    model.StateIn(states=(GroupState.STABLE, GroupState.EMPTY)),
    model.ProtocolIs(protocol="cooperative-sticky"),
    model.MemberCount(at_least=2, at_most=3),
    model.MemberCount(at_most=0),
    model.Speaking(protocol=MemberProtocol.CONSUMER),
    model.Speaking(protocol=MemberProtocol.CONSUMER, at_least=1),
    model.Replaced(),
    model.NoUserData(),
    model.StreamsRelease(knows=5),
    model.StreamsRebalancing(protocol=Rebalancing.EAGER),
    model.Precedes(client_id="bridge"),
    model.Leads(client_id="bridge"),
    model.Absent(client_id="bridge"),
    model.Present(client_id="null"),
    model.OthersAlso(),
)
PLAN = model.Plan(
    group="payments",
    origin="classic (range)",
    destination=model.Destination.CONSUMER,
    clients=("java", "librdkafka"),
    findings=(
        Finding(rule="r", level=Level.WARNING, message="m", remedy="do", source="KIP-848", member="m1"),
        Finding(rule="r2", level=Level.INFO, message="", remedy="", source=""),
    ),
    path="roll",
    baseline=model.Baseline(
        cluster="abc",
        type=GroupType.CLASSIC,
        state=GroupState.STABLE,
        protocol="range",
        epoch=7,
        members=(
            model.PlannedMember(
                id="m1", instance="s1", client_id="c", host="/10.0.0.1", library="java", partitions=3
            ),
            model.PlannedMember(id="m2"),
        ),
        topics=("0123", "on", "orders"),
        partitions={"orders": 6, "on": 1},
    ),
    alternatives=(model.Alternative(title="offline", why_not="stops the group"),),
    concurrency=2,
    bounce_s=12.5,
    steps=(
        model.Step(
            id="first",
            title="Convert",
            actions=("one", "two: # three"),
            rounds=(("m1", "m2"), ("m3",)),
            config=("# java", "group.protocol=consumer"),
            expect="x",
            expectation=model.Expectation(
                rebalances=2, moved=3, without_owner_s=0.5, arithmetic=("1 + 1 = 2",)
            ),
            commands=("kohort gate PLAN.yaml --step 1",),
            complete_when="done",
            between=CONDITIONS[:2],
            gate=CONDITIONS,
            strays=(model.Deviation(conditions=CONDITIONS[:3], message="lost", back_to="first"),),
            dangers=(model.Risk(what="w", symptom="s", then="t"),),
            rollback="back",
        ),
        model.Step(id="second", title="Roll", actions=()),
    ),
)
FILE = Path("PLAN.yaml")


def yaml_of(data: dict[str, Any]) -> str:
    return "".join(yaml_lines(data))


def refusal(data: object) -> str:
    with pytest.raises(Malformed) as error:
        plan_from_data(data)
    return str(error.value)


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    data = copy.deepcopy(plan_to_data(PLAN))
    container: Any = data
    for step in path[:-1]:
        container = container[step]
    container[path[-1]] = value
    return data


@pytest.mark.parametrize("write", [json.dumps, yaml_of], ids=["json", "yaml"])
def test_nothing_is_lost_in_a_file(write: Any) -> None:
    document = {"kohort": 1, "command": "plan", **plan_to_data(PLAN)}
    assert plan_from_data(load_tree(FILE, write(document))) == plan_from_data(document) == PLAN


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@given(texts, st.lists(texts, max_size=3), st.one_of(st.none(), texts), st.floats(0, 1e9))
def test_any_text_rejoins(name: str, lines: list[str], host: str | None, seconds: float) -> None:
    assert PLAN.baseline is not None
    baseline = replace(PLAN.baseline, members=(model.PlannedMember(id=name, host=host),), topics=tuple(lines))
    step = replace(PLAN.steps[0], config=tuple(lines), gate=(model.Present(client_id=name),))
    plan = replace(PLAN, group=name or "g", baseline=baseline, bounce_s=seconds, steps=(step, PLAN.steps[1]))
    data = plan_to_data(plan)
    assert plan_from_data(load_tree(FILE, yaml_of(data))) == plan
    assert plan_from_data(load_tree(FILE, json.dumps(data))) == plan


def test_the_names_of_the_document() -> None:
    data = plan_to_data(PLAN)
    assert list(data)[:6] == ["group", "from", "to", "client", "verdict", "clients"]
    assert (data["from"], data["to"], data["client"]) == ("classic (range)", "consumer", "java, librdkafka")
    assert data["verdict"] == "warnings"
    assert [step["step"] for step in data["steps"]] == [1, 2]
    assert data["steps"][0]["gate"][1] == {"check": "state-in", "states": ["Stable", "Empty"]}
    assert [condition_tag(one) for one in CONDITIONS[:2]] == ["type-is", "state-in"]


def test_what_has_a_default_may_be_missing() -> None:
    plan = plan_from_data(
        {"group": "g", "from": "classic", "to": "consumer", "clients": [], "findings": [],
         "steps": [{"title": "t", "actions": []}]}
    )  # fmt: skip
    assert plan.steps == (model.Step(title="t", actions=()),)
    assert plan.baseline is None


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("steps", 0, "gate", 0, "type"), "klassic", "steps[0].gate[0].type: expected one of classic, consumer"),
        (("steps", 0, "gate", 1, "states", 0), "Stabel", "steps[0].gate[1].states[0]: expected one of"),
        (("steps", 0, "gate", 1, "states"), [], "steps[0].gate[1].states: is empty"),
        (("steps", 0, "gate", 1, "check"), "state-is", "steps[0].gate[1].check: expected one of type-is"),
        (("steps", 0, "gate", 1), "Stable", "steps[0].gate[1]: expected a mapping with `check: …`"),
        (("steps", 0, "gate", 3, "at_least"), "two", "steps[0].gate[3].at_least: expected a whole number, found 'two'"),
        (("steps", 0, "gate", 3, "at_least"), -1, "steps[0].gate[3].at_least: -1 is out of range"),
        (("steps", 0, "gate", 3, "at_least"), 10**400, "out of range"),
        (("steps", 0, "gate", 3, "at_least"), 9, "steps[0].gate[3].at_most: 3 is less than at_least, 9"),
        (("steps", 0, "gate", 4, "at_most"), None, "steps[0].gate[4]: expected at_least, at_most or both"),
        (("steps", 0, "gate", 3), {"check": "member-count", "at_least": 0}, "gate[3].at_least: expected at least 1"),
        (("steps", 0, "gate", 6, "at_least"), 0, "steps[0].gate[6].at_least: expected at least 1"),
        (("steps", 0, "gaet"), [], "steps[0].gaet: unknown field; a newer Kohort"),
        (("steps", 0, "gate", 2, "protokol"), "x", "steps[0].gate[2].protokol: unknown field"),
        (("steps", 1, "step"), 3, "steps[1].step: expected 2, found 3"),
        (("steps", 1, "id"), "first", "steps[1].id: the id 'first' is used twice"),
        (("steps", 1, "id"), "1", "steps[1].id: '1' is a number"),
        (("steps", 0, "strays", 0, "back_to"), "third", "steps[0].strays[0].back_to: no step has the id 'third'"),
        (("steps", 0, "strays", 0, "conditions"), [], "steps[0].strays[0].conditions: is empty"),
        (("steps", 0, "title"), None, "steps[0].title: expected a text, found nothing"),
        (("steps", 0, "title"), ["x"], "steps[0].title: expected a text, found a list"),
        (("steps", 0, "rounds"), "m1", "steps[0].rounds: expected a list, found 'm1'"),
        (("steps", 0), None, "steps[0]: expected a mapping with id, title, "),
        (("steps",), None, "steps: expected a list, found nothing"),
        (("to",), "kafka", "to: expected one of cooperative, consumer, eager, classic"),
        (("group",), "", "group: is empty"),
        (("bounce_s",), "NaN", "bounce_s: 'NaN' is out of range"),
        (("bounce_s",), "1e999", "bounce_s: '1e999' is out of range"),
        (("concurrency",), 0, "concurrency: expected at least 1"),
        (("concurrency",), True, "concurrency: expected a whole number, found True"),
        (("baseline", "members", 1, "id"), "m1", "baseline.members[1].id: 'm1' is listed twice"),
        (("baseline", "partitions", "on"), [], "baseline.partitions.on: expected a whole number"),
        (("baseline", "type"), "UNKNOW", "baseline.type: expected one of"),
    ],
)  # fmt: skip
def test_nonsense_is_named(path: tuple[str | int, ...], value: Any, message: str) -> None:
    assert message in refusal(changed(path, value))


@pytest.mark.parametrize("name", ["gate", "title", "actions"])
def test_a_misspelt_field_is_named(name: str) -> None:
    data = plan_to_data(PLAN)
    data["steps"][0][name + "s"] = data["steps"][0].pop(name)
    assert refusal(data) == f"steps[0].{name}s: unknown field; did you mean {name}?"


@pytest.mark.parametrize("name", ["group", "from", "to", "clients", "findings"])
def test_a_field_that_must_be_there(name: str) -> None:
    data = plan_to_data(PLAN)
    del data[name]
    assert refusal(data) == f"{name}: is missing"


@pytest.mark.parametrize("data", [None, [], "plan", {}, {"groups": []}, 3])
def test_what_is_no_plan(data: object) -> None:
    assert refusal(data).startswith("this is not a plan")


def test_aliases_cannot_blow_a_plan_up() -> None:
    """Each of 300 steps holds the same 300 rounds of the same 300 labels: 27 million texts in some kilobytes."""
    head = (
        "group: g\nfrom: x\nto: consumer\nclients: []\nfindings: []\nsteps:\n- &step\n  title: t\n  actions: "
    )
    actions, rounds = ", ".join(["a"] * 300), ", ".join(["*actions"] * 300)
    text = f"{head}&actions [{actions}]\n  rounds: &rounds [{rounds}]\n" + "- *step\n" * 300
    assert f"a plan has at most {MAX_VALUES} values" in refusal(load_tree(FILE, text))


VALUES: list[Any] = [
    None, "", "x", "0", -1, 1.5, True, [], {}, [[]], {"check": "replaced"}, 10**30, "\x00", "é" * 99
]  # fmt: skip


def _places(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        entries: list[tuple[Any, Any]] = [(value, key) for key in value]
    elif isinstance(value, list):
        entries = [(value, key) for key in range(len(value))]
    else:
        return []
    return entries + [entry for container, key in entries for entry in _places(container[key])]


@pytest.mark.parametrize("seed", range(20))
def test_a_mutated_plan_is_read_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        data = copy.deepcopy(plan_to_data(PLAN))
        for _ in range(chance.randint(1, 3)):
            container, key = chance.choice(_places(data))
            what = chance.randrange(4)
            if what == 0:
                del container[key]
            elif what == 1:
                container[key] = copy.deepcopy(chance.choice(VALUES))
            elif what == 2:
                container[key] = copy.deepcopy(chance.choice([one[key] for one, key in _places(data)]))
            elif isinstance(container, list):
                container.append(copy.deepcopy(container[key]))
            else:
                container[f"{key}{chance.choice('xs ')}"] = container.pop(key)
        with suppress(Malformed):
            plan = plan_from_data(data)
            assert plan_from_data(plan_to_data(plan)) == plan


@pytest.mark.parametrize("seed", range(20))
def test_broken_bytes_are_read_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    whole = yaml_of(plan_to_data(PLAN))
    for _ in range(20):
        text = list(whole)
        for _ in range(chance.randint(1, 8)):
            at = chance.randrange(len(text))
            text[at : at + chance.randint(0, 3)] = chance.choice(
                ["", "\n", "  ", "&a ", "*a", "[", "}", "- ", '"', ":"]
            )
        with suppress(Malformed, TreeError):
            plan_from_data(load_tree(FILE, "".join(text)))
