"""Groups at known rates, observed at every phase of their commits: no sick one is missed, no healthy one reported."""

from dataclasses import dataclass

import pytest

from groups.diagnosis.case import Observation, Thresholds
from groups.diagnosis.diagnose import diagnose
from groups.findings import Level
from groups.lag import NextRecord
from groups.model import CommittedOffset, Topic
from tests.groups.diagnosis.groups import group, member

START_MS = 1_700_000_000_000
HISTORY_S = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A partition and its consumer. Rates in records per second."""

    produced: float
    read: float
    late_s: float = 0.0  # the age of the oldest unread record at the start; 0: caught up
    commit_s: float = 5.0
    burst_s: float = 0.0  # if set, records are produced only once in this time
    shows_commits: bool = True  # whether the times of commits can be read

    def end(self, at_s: float) -> int:
        """The log end at this time."""
        passed_s = at_s + HISTORY_S
        return int(self.produced * (passed_s - passed_s % self.burst_s if self.burst_s else passed_s))

    def written_ms(self, offset: int) -> int:
        """When the record at an offset was written."""
        passed_s = offset / self.produced
        if self.burst_s:
            passed_s = (passed_s // self.burst_s + 1) * self.burst_s
        return round((passed_s - HISTORY_S) * 1000) + START_MS

    def committed(self, at_s: float, phase_s: float) -> tuple[int, float]:
        """The committed offset, and when it was committed."""
        committed_s = at_s - (at_s - phase_s) % self.commit_s
        end = self.end(committed_s)
        if self.late_s:
            return min(int(self.end(-self.late_s) + self.read * committed_s), end), committed_s
        if not self.burst_s:
            return end, committed_s
        since_s = committed_s - committed_s % self.burst_s
        before = self.end(since_s - 0.001)
        return min(int(before + self.read * (committed_s - since_s)), end), committed_s

    def observed(self, phase_s: float, seconds: float) -> list[Observation]:
        """Observations as `kohort diagnose` makes them."""
        every_s = max(3.5, seconds / 7)
        times = [0.0, *(at for step in range(1, 9) if (at := step * every_s) < seconds - every_s), seconds]
        seen: list[Observation] = []
        for at_s in times:
            offset, committed_s = self.committed(at_s, phase_s)
            at_ms, end = START_MS + round(at_s * 1000), self.end(at_s)
            is_whole = at_s in (0.0, seconds)
            commit_ms = START_MS + round(committed_s * 1000)
            knows = is_whole and self.shows_commits
            commit = CommittedOffset(offset=offset, timestamp=commit_ms if knows else None)
            record = NextRecord(offset, self.written_ms(offset)) if offset < end else NextRecord(None)
            partition = ("orders", 0)
            base_s = next((time for time in reversed(times) if time <= seconds - 10), 0.0)
            waits = knows and seen and offset < end and offset == self.committed(base_s, phase_s)[0]
            gap_ms = round(self.commit_s * 1000) if waits else None
            topic = Topic(name="orders", partitions=1, start_offsets={0: 0}, end_offsets={0: end})
            observation = Observation(
                at_ms=at_ms,
                group=group(member("a", [0]), offsets={"orders": {0: commit}}, commit_gap_ms=gap_ms),
                topics={"orders": topic},
                next_records={partition: record} if is_whole else {},
                waiting_since_ms={partition: max(commit_ms, self.written_ms(offset))} if waits else {},
                transactions={},
            )
            seen.append(observation)
        return seen


SICK = {
    "as reported": Flow(produced=20, read=10, late_s=540),
    "a minute late": Flow(produced=20, read=10, late_s=60),
    "a little slower": Flow(produced=20, read=16, late_s=540),
    "commits each second": Flow(produced=20, read=10, late_s=540, commit_s=1),
    "commits every 30 s": Flow(produced=20, read=10, late_s=540, commit_s=30),
    "in bursts": Flow(produced=20, read=10, late_s=540, burst_s=20),
    "few records": Flow(produced=0.5, read=0.25, late_s=540),
    "without times": Flow(produced=20, read=10, late_s=540, shows_commits=False),
}
HEALTHY = {
    "caught up": Flow(produced=20, read=100),
    "commits each second": Flow(produced=20, read=100, commit_s=1),
    "commits every 30 s": Flow(produced=20, read=100, commit_s=30),
    "commits every 60 s": Flow(produced=20, read=100, commit_s=60),
    "bursts": Flow(produced=100, read=300, burst_s=15),
    "long bursts": Flow(produced=50, read=80, burst_s=40),
    "bursts, committed every 30 s": Flow(produced=50, read=200, burst_s=20, commit_s=30),
    "as fast as they are produced": Flow(produced=10, read=10, late_s=20),
    "late on purpose": Flow(produced=20, read=20, late_s=540),
    "catches up": Flow(produced=20, read=200, late_s=540),
    "catches up slowly": Flow(produced=20, read=25, late_s=540),
    "catches up, committed every 60 s": Flow(produced=20, read=60, late_s=540, commit_s=60),
    "a record every 7 s": Flow(produced=1 / 7, read=20),
    "bursts, late on purpose": Flow(produced=20, read=20, late_s=540, burst_s=10),
}
SECONDS = (6, 10, 30)


def _levels(flow: Flow, seconds: float) -> dict[float, tuple[set[str], bool]]:
    """By phase: the rules of errors and warnings, and whether growing lag was checked."""
    verdicts = {}
    for step in range(int(flow.commit_s * 2)):
        result = diagnose("payments", flow.observed(step / 2, seconds), Thresholds())
        alarms = {finding.rule for finding in result.findings if finding.level is not Level.NOTE}
        unchecked = {rule for check in result.not_checked for rule in check.rules}
        verdicts[step / 2] = alarms, "falling-behind" not in unchecked
    return verdicts


@pytest.mark.parametrize("seconds", SECONDS)
@pytest.mark.parametrize("name", SICK)
def test_lag_that_grows_is_not_missed_at_any_phase(name: str, seconds: int) -> None:
    verdicts = _levels(SICK[name], seconds)
    missed = [phase for phase, (alarms, is_checked) in verdicts.items() if not alarms and is_checked]
    assert missed == []
    if name == "as reported":
        assert all(alarms == {"falling-behind"} for alarms, _ in verdicts.values())


@pytest.mark.parametrize("seconds", [*SECONDS, 50, 80])
@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_group_raises_no_alarm_at_any_phase(name: str, seconds: int) -> None:
    alarms = {phase: rules for phase, (rules, _) in _levels(HEALTHY[name], seconds).items() if rules}
    assert alarms == {}
