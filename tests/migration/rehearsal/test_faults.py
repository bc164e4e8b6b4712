"""Plans played while network, coordinator and processes fail, and the files that say so."""

from pathlib import Path

import pytest

from coordinator.faults import CoordinatorFault, FailCoordinator
from coordinator.simulation.scenario import Direction, Freeze, MemberScript, NetworkPartition, Restart
from groups.yaml_files import TreeError
from migration.rehearsal.faults import PlanFaults, read_faults
from migration.rehearsal.rehearsed import Rehearsed
from tests.migration.cases import COOPERATIVE
from tests.migration.rehearsal.groups import classic_group, planned

PARTITION = "kohort: 1\nfaults:\n  partition:\n    - "
MEMBERS, PLACES = ("m1", "m2", "m3"), ((1, 1), (1, 2), (2, 1))


def _read(directory: Path, text: str) -> PlanFaults:
    file = directory / "faults.yaml"
    file.write_text(text)
    return read_faults(file, MEMBERS, PLACES)


def _rehearse(faults: PlanFaults, seed: int = 1) -> Rehearsed:
    return planned(classic_group(), COOPERATIVE).rehearse(seed, with_story=True, faults=faults)


def _events(directory: Path, *events: str) -> PlanFaults:
    return _read(directory, "\n".join(("kohort: 1", "events:", *(f"  - {{{event}}}" for event in events))))


def test_times_count_from_the_first_round_or_another(tmp_path: Path) -> None:
    text = """\
kohort: 1
faults:
  loss: 0.1
  partition: {members: [m1, m2], from: 1.2+3, to: 1.2+4500ms, direction: answers}
events:
  - {at: 2.1, freeze: m1, for: 3}
  - {at: 2.1+5s, coordinator: crash, for: PT10S}
  - {at: 2.1+6, restart: m2, kill: true, after: 7}
"""
    faults = _read(tmp_path, text)
    assert (faults.network.loss, faults.network.partitions) == (0.1, ())
    assert faults.events[None] == (Freeze(at=2.1, member="m1", for_s=3.0),)
    assert faults.events[2, 1] == (
        FailCoordinator(at=5.0, fault=CoordinatorFault.CRASH, for_s=10.0),
        Restart(at=6.0, member="m2", script=MemberScript(), kill=True, after_s=7.0),
    )
    answers = NetworkPartition(members=("m1", "m2"), start_s=3.0, end_s=4.5, direction=Direction.ANSWERS)
    assert faults.partitions[1, 2] == (answers,)


@pytest.mark.parametrize(
    ("text", "line", "field", "said"),
    [
        ("topics: {a: 1}", 1, "kohort", "not a faults file"),
        ("- 1", 1, "kohort", "not a faults file"),
        ("kohort: 9", 1, "kohort", "9"),
        ("kohort: 1\ntopics: {a: 1}", 2, "topics", "a faults file has kohort, faults, events"),
        ("kohort: 1\nfaults: {loss: 2}", 2, "faults.loss", "2"),
        ("kohort: 1\nfaults: [1]", 2, "faults", "a mapping"),
        ("kohort: 1\nfaults:\n  delay_ms: [5, 1]", 3, "faults.delay_ms", "shortest and the longest"),
        ("kohort: 1\nevents: 3", 2, "events", "a list"),
        ("kohort: 1\nevents:\n  - 3", 3, "events[0]", "a mapping"),
        ("kohort: 1\nevents:\n  - {at: 1}", 3, "events[0]", "has no verb; one of pause, freeze"),
        ("kohort: 1\nevents:\n  - {at: 1, frezze: m1}", 3, "events[0].frezze", "did you mean freeze"),
        ("kohort: 1\nevents:\n  - {at: 1, start: m1}", 3, "events[0].start", "did you mean restart"),
        ("kohort: 1\nevents:\n  - {kill: m1}", 3, "events[0].at", "missing"),
        ("kohort: 1\nevents:\n  - {at: soon, kill: m1}", 3, "events[0].at", "STEP.ROUND+seconds"),
        ("kohort: 1\nevents:\n  - {at: 1.3+1, kill: m1}", 3, "events[0].at", "no round '1.3'; did you mean 1.2?"),
        ("kohort: 1\nevents:\n  - {at: 99999999, kill: m1}", 3, "events[0].at", "out of range"),
        ("kohort: 1\nevents:\n  - at: 1\n    kill: m4", 4, "events[0].kill", "there is no member"),
        ("kohort: 1\nevents:\n  - {at: 1, freeze: m1, for: 0}", 3, "events[0].for", "longer than 0"),
        ("kohort: 1\nevents:\n  - {at: 1, freeze: m1}", 3, "events[0].for", "missing"),
        ("kohort: 1\nevents:\n  - {at: 1, coordinator: burns}", 3, "events[0].coordinator", "burns"),
        ("kohort: 1\nevents:\n  - {at: 1, restart: m1, with: {}}", 3, "events[0].with", "unknown"),
        (PARTITION + "{members: [m1], from: 1.1+5, to: 1.2+9}", 4, "faults.partition[0].to", "same round"),
        (PARTITION + "{members: [m1], from: 5, to: 5}", 4, "faults.partition[0].to", "later"),
        (PARTITION + "{members: [x], from: 5, to: 6}", 4, "faults.partition[0].members", "no m"),
    ],
)  # fmt: skip
def test_a_bad_file_says_where(tmp_path: Path, text: str, line: int, field: str, said: str) -> None:
    with pytest.raises(TreeError) as raised:
        _read(tmp_path, text)
    assert (raised.value.line, raised.value.field) == (line, field)
    assert said in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match="cannot be read"):
        read_faults(tmp_path / "no.yaml", MEMBERS, PLACES)


def test_a_gate_stays_closed_while_no_coordinator_answers(tmp_path: Path) -> None:
    quiet, crashed = map(
        _rehearse, (PlanFaults(), _events(tmp_path, "at: 1.2+20, coordinator: crash, for: 60"))
    )
    assert crashed.unsafe == ()
    assert any(poll.closed_by == ("coordinator",) and poll.place == (1, 2) for poll in crashed.polls)
    assert crashed.rounds[0].gate_open_after_s == quiet.rounds[0].gate_open_after_s
    assert (crashed.rounds[1].gate_open_after_s or 0) >= 80


@pytest.mark.parametrize("seed", range(1, 6))
def test_a_gate_waits_for_a_member_whose_session_ended(tmp_path: Path, seed: int) -> None:
    """It stands still for longer than the session of 45 seconds, and is put out."""
    rehearsed = _rehearse(_events(tmp_path, "at: 1.1+1, freeze: m3, for: 100"), seed)
    assert rehearsed.unsafe == ()
    assert (rehearsed.rounds[0].gate_open_after_s or 0) >= 100


def test_a_crash_within_the_session_cannot_be_seen(tmp_path: Path) -> None:
    """The broker shows a killed member until its session ends."""
    rehearsed = _rehearse(_events(tmp_path, "at: 1.1+33, restart: m3, kill: true, after: 20"))
    assert any("m3 has not rejoined" in line for line in rehearsed.opened_wrongly)


def test_a_member_rejoins_from_a_crash_as_it_ran(tmp_path: Path) -> None:
    first, second = (
        _rehearse(_events(tmp_path, f"at: {step}.1+1, restart: m3, kill: true, after: 5")) for step in (1, 2)
    )
    assert first.unsafe == ()
    assert len(first.rounds) == 6
    # It has a new id before its round, and no broker shows its list.
    assert second.opened_wrongly == (
        "the gate of step 2 is open after round 2, although m3 does not run as planned",
    )


def test_a_member_that_is_away_cannot_crash(tmp_path: Path) -> None:
    """It is stopped for 30 seconds; the crash does not start it earlier."""
    crash = _events(tmp_path, "at: 1.1+5, restart: m1, kill: true, after: 1")
    quiet, crashed = (
        [played.gate_open_after_s for played in _rehearse(faults).rounds] for faults in (PlanFaults(), crash)
    )
    assert crashed == quiet


def test_the_group_begins_without_faults(tmp_path: Path) -> None:
    rehearsed = _rehearse(_read(tmp_path, "kohort: 1\nfaults: {loss: 0.9}"))
    assert rehearsed.misplaced == 0
    first = next(index for index, line in enumerate(rehearsed.story) if "closes, and restarts later" in line)
    assert not any("fails" in line for line in rehearsed.story[:first])
    assert any("fails" in line for line in rehearsed.story[first:])


def test_a_partition_of_the_network_holds_the_gate_closed(tmp_path: Path) -> None:
    """The member that rejoins cannot reach its coordinator."""
    text = "kohort: 1\nfaults: {partition: {members: [m1], from: 1.1+20, to: 1.1+70}}"
    rehearsed = _rehearse(_read(tmp_path, text))
    assert rehearsed.unsafe == ()
    assert (rehearsed.rounds[0].gate_open_after_s or 0) >= 70


def test_an_answer_that_is_lost_leaves_partitions_without_owner(tmp_path: Path) -> None:
    """The broker shows the group Stable, and a member does not know yet what it was given."""
    faults = _read(tmp_path, "kohort: 1\nfaults: {loss: 0.02}")
    lines = [line for seed in range(1, 31) for line in _rehearse(faults, seed).opened_wrongly]
    early = [line for line in lines if "opens too early" in line]
    assert early
    assert all(line.endswith("has 0 owners") for line in early)
