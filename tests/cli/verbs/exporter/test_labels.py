"""Labels that the user adds, on every sample of the page."""

from pathlib import Path

import pytest

from cli.errors import UsageError
from cli.metric_labels import parse_labels
from cli.verbs.exporter.options import OwnerName
from cli.verbs.exporter.owners import Owners
from cli.verbs.exporter.page import LABELS
from groups.lag import PartitionLag
from groups.model import Client, Member
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


def test_partitions_have_their_owner(kohort: Kohort, sample: Path) -> None:
    line = "exporter --once --per partition --owner"
    described = kohort.quick("describe --all-groups --output json --embedded", sample).document["groups"]
    clients = {member["id"]: member["client_id"] for group in described for member in group["members"]}
    rows = {
        (group["group"], row["topic"], str(row["partition"])): clients.get(row["member"])
        for group in described
        for row in group["offsets"]
    }
    shown = Figures.read(kohort.quick(f"{line} client-id --embedded", sample).succeeded().stdout).samples
    owners: dict[tuple[str, str, str], str | None] = {}
    for labels in map(dict, shown["kohort_partition_committed_offset"]):
        owners[labels["group"], labels["topic"], labels["partition"]] = labels.get("owner")
    assert owners
    assert owners == {place: rows[place] for place in owners}
    assert {None, *clients.values()} >= {*owners.values()} > {None}
    few = kohort.quick(f"{line} host --owner-limit 1 --embedded", sample).succeeded()
    limited = Figures.read(few.stdout).samples["kohort_partition_committed_offset"]
    assert len({dict(labels).get("owner") for labels in limited} - {None}) == 2
    assert few.stderr.count("is other (--owner-limit 1)") == 1
    kohort.quick("exporter --once --owner host --embedded", sample).assert_refused(
        "--per partition", status=2
    )


def test_an_owner_that_is_shown_remains_while_it_owns_a_partition() -> None:
    lines: list[str] = []
    owners = Owners(kind=OwnerName.CLIENT_ID, limit=2, report=lines.append)

    def names(*clients: str) -> list[str | None]:
        rows = [PartitionLag("t", 0, Member(id=client, client=Client(id=client))) for client in clients]
        owners.take(rows)
        return [owners.of(row) for row in rows]

    assert names("c", "d") == ["c", "d"]
    assert names("a", "c", "d") == ["other", "c", "d"]
    assert names("a", "b", "d") == ["a", "other", "d"]
    assert len(lines) == 1
    assert owners.of(PartitionLag("t", 0)) is None
