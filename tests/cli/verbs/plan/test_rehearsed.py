"""`kohort plan --rehearse`: the figures of a rehearsal in the plan, and plans that a rehearsal blocks."""

from pathlib import Path

import yaml

from tests.cli.command import Kohort

BILLING = "plan billing --to cooperative --client java:3.7.0 --rehearse --seeds 3"
RUNBOOKS = Path(__file__).parents[3] / "migration" / "runbooks"


def test_the_figures_are_in_the_plan(kohort: Kohort, sample: Path) -> None:
    plan = kohort.quick(f"{BILLING} --output json --embedded", sample).succeeded().document
    rehearsal = plan["rehearsal"]
    assert {**rehearsal, "at": ""} == {
        "at": "",
        "seed": 1,
        "seeds": 3,
        "safe": True,
        "unsafe": [],
        "story": [],
    }
    for step in plan["steps"]:
        median, worst = step["rehearsed"]["median"], step["rehearsed"]["worst"]
        assert median["rebalances"] == step["expectation"]["rebalances"]
        assert all(worst[name] >= median[name] for name in median)


def test_the_runbook_says_when_and_from_how_many_seeds(kohort: Kohort, sample: Path) -> None:
    page = kohort.quick(f"{BILLING} --output html --embedded", sample).succeeded().stdout
    assert "Rehearsed on 20" in page
    assert "3 seeds: safe in each of them." in page
    assert "billing: owners round by round" in page


def test_the_plan_that_was_written_is_read_again(kohort: Kohort, sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "PLAN.yaml"
    file.write_text(kohort.quick(f"{BILLING} --output yaml --embedded", sample).succeeded().stdout)
    assert "Safe" in kohort.quick("rehearse", str(file), "--embedded", str(sample)).succeeded().stdout


def _slow(directory: Path) -> Path:
    """A snapshot of a cluster whose members hear of a new assignment later than any gate waits."""
    tree = yaml.safe_load((RUNBOOKS / "librdkafka-range-to-consumer.yaml").read_text())
    tree["cluster"]["settings"] |= {
        f"group.consumer.{most}{name}.ms": milliseconds
        for most in ("", "max.")
        for name, milliseconds in (("heartbeat.interval", "400000"), ("session.timeout", "900000"))
    }
    file = directory / "snapshot.yaml"
    file.write_text(yaml.safe_dump({name: tree[name] for name in ("kohort", "cluster", "topics", "groups")}))
    return file


def test_a_plan_that_is_not_safe_is_blocked_with_its_story(kohort: Kohort, tmp_path: Path) -> None:
    snapshot = _slow(tmp_path)
    (group,) = yaml.safe_load(snapshot.read_text())["groups"]
    question = f"plan {group} --to consumer --client librdkafka:2.16.0 --snapshot {snapshot}"
    assert kohort.quick(question).succeeded()
    answer = kohort.quick(f"{question} --rehearse --seeds 1 --output json")
    assert answer.status == 1
    plan = answer.document
    assert (plan["verdict"], plan["steps"], plan["rehearsal"]["safe"]) == ("blocked", [], False)
    (blocker,) = (finding for finding in plan["findings"] if finding["level"] == "blocker")
    assert blocker["rule"] == "rehearsal"
    assert "Seed 1: the gate of step" in blocker["message"]
    assert "does not open" in blocker["message"]
    assert plan["rehearsal"]["story"]
    shown = kohort.quick(f"{question} --rehearse --seeds 1").stdout
    assert "Last events of the first seed that is not safe:" in shown


def test_a_group_that_cannot_be_rehearsed_says_why(kohort: Kohort, sample: Path) -> None:
    """No member is in it."""
    question = "plan nightly-report --to consumer --client java:4.1.0 --rehearse --output json --embedded"
    plan = kohort.quick(question, sample).succeeded().document
    assert plan["rehearsal"] is None
    (finding,) = (finding for finding in plan["findings"] if finding["rule"] == "rehearsal")
    assert finding["level"] == "info"
    assert "the group has no members" in finding["message"]


def test_a_row_for_each_group(kohort: Kohort, sample: Path) -> None:
    question = "plan --match bil|ware --to cooperative --client java:3.7.0 --rehearse --seeds 1 --embedded"
    table = kohort.quick(question, sample).stdout.splitlines()
    assert "REHEARSED" in table[0]
    assert [line.split()[0] for line in table[1:]] == ["billing", "warehouse"]
    assert " safe " in table[1]
