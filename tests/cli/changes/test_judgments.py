"""The status of a judgment, and of an answer with errors, does not depend on who reads it."""

from pathlib import Path

import pytest

from tests.cli.changes.playing import FULL, Stream, play

JUDGMENTS = {
    "validate-regex '(?!a)b'": 1,
    "plan legacy-etl --to consumer --client java:4.1.0 --embedded {sample}": 1,
    "diagnose lost no-such-group --snapshot {lost}": 3,
    "apply {desired} --check --embedded {sample}": 1,
    "describe billing no-such-group --embedded {sample}": 3,
    "offsets export billing no-such-group --embedded {sample}": 3,
    "snapshot billing no-such-group --embedded {sample}": 3,
    "offsets reset nightly-report --topic no-such-topic --to-offset 0 --embedded {sample}": 3,
    "gate {plan} --step 1 --embedded {sample}": 1,
    "list --embedded {sample}": 0,
}
LOST = """\
kohort: 1
topics: {orders: {partitions: 1, start_offsets: {0: 50}, end_offsets: {0: 100}}}
groups: {lost: {type: classic, state: Empty, offsets: {orders: {0: {offset: 10}}}}}
"""
PLAIN = ("validate-regex", "offsets export", "snapshot")


@pytest.mark.parametrize("line", JUDGMENTS)
def test_a_judgment_does_not_depend_on_its_readers(sample: Path, tmp_path: Path, line: str) -> None:
    desired, plan, lost = (tmp_path / name for name in ("desired.yaml", "plan.yaml", "lost.yaml"))
    lost.write_text(LOST)
    desired.write_text("kohort: 1\ngroups: {nightly-report: {offsets: {payments: {0: 1}}}}\n")
    made = play(f"plan billing --to consumer --client java:4.1.0 --embedded {sample} --output yaml")
    plan.write_text(made.stdout)
    words = line.format(sample=sample, desired=desired, plan=plan, lost=lost)
    for output in ("", "--output json"):
        if output and line.startswith(PLAIN):
            continue
        whole = play(words, *output.split())
        assert whole.status == JUDGMENTS[line], whole
        for number in range(whole.writes[0]):
            closed = play(words, *output.split(), stdout=Stream(closing_at=number))
            assert (closed.status, closed.stderr) == (whole.status, whole.stderr), closed
        for number in range(whole.writes[1]):
            closed = play(words, *output.split(), stderr=Stream(closing_at=number, lines=True))
            assert (closed.status, closed.stdout) == (whole.status, whole.stdout), closed
        full = play(words, *output.split(), stderr=Stream(device=FULL, lines=True))
        assert (full.status, full.stdout) == (whole.status, whole.stdout), full
        full = play(words, *output.split(), stdout=Stream(device=FULL))
        if not whole.writes[0]:
            continue
        assert (full.status, "standard output cannot be written: No space left" in full.stderr) == (3, True)
