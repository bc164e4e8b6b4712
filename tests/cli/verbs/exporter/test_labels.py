"""Labels that the user adds, on every sample of the page."""

from pathlib import Path

import pytest

from cli.errors import UsageError
from cli.metric_labels import parse_labels
from cli.verbs.exporter.families import LABELS
from tests.cli.command import Kohort
from tests.cli.verbs.exporter.scrapes import Figures


def test_every_sample_has_the_labels(kohort: Kohort, sample: Path) -> None:
    hostile = 'a "quoted" \\ = value'
    line = ("exporter --once --label team=payments --embedded", sample, "--label", f"note={hostile}")
    shown = Figures.read(kohort.quick(*line).succeeded().stdout)
    added = {("team", "payments"), ("note", hostile)}
    assert all(added <= labels for values in shown.samples.values() for labels in values)
    assert shown("kohort_up", team="payments", note=hostile) == 1
    assert shown("kohort_group_readable", group="billing", team="payments", note=hostile) == 1


@pytest.mark.parametrize(
    "text", ["team", "=a", "9a=b", "a-b=c", "__name__=x", "team=", "group=a", "state=a", "cluster=x", "a=\n",
             "t=1\udcff"]
)  # fmt: skip
def test_what_is_no_label_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--label"):
        parse_labels([text], LABELS)


def test_a_label_has_one_value() -> None:
    assert parse_labels(["a=1", "b=x=y", "a=1"], LABELS) == {"a": "1", "b": "x=y"}
    with pytest.raises(UsageError, match="has another value already"):
        parse_labels(["a=1", "a=2"], LABELS)
