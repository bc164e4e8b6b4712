"""C27: `kohort features list|set` next to `kafka-features.sh`, on a real broker and on `kohort serve`."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.journal.reader import read_journal
from groups.features import METADATA_VERSION, METADATA_VERSIONS, release_levels
from tests.cli.command import Kohort
from tests.cli.offset_rig import OffsetRig
from tests.cli.schemas import faults
from tests.cli.served_data import serving
from tests.kafka.broker import Broker, RunningBroker
from tests.kafka.members import Members, fresh_name
from tests.kafka.plugin import StartBroker
from tests.kafka.tool_host import ToolHost
from tests.kafka.wait import wait_until
from tests.support.long import LONG

TOOL = "org.apache.kafka.tools.FeatureCommand"
_DESCRIBED = re.compile(
    r"Feature: (\S+)\s+SupportedMinVersion: (\S+)\s+SupportedMaxVersion: (\S+)\s+"
    r"FinalizedVersionLevel: (\S+)\s+Epoch: (\S+)"
)


def described(tools: ToolHost, broker: RunningBroker) -> list[tuple[str, ...]]:
    return _DESCRIBED.findall(tools.ask(broker, TOOL, "describe").stdout)


def listed(rig: OffsetRig) -> list[tuple[str, ...]]:
    document = rig.ours("features list").succeeded(stderr="").document
    assert faults(document) == []
    rows = rig.ours("features list", output="csv").rows
    return [
        (row["FEATURE"], *row["SUPPORTED"].split(" to "), row["FINALIZED"], str(document["epoch"]))
        for row in rows
    ]


@pytest.mark.kafka
def test_features_are_listed_as_by_kafkas_tool(rig: OffsetRig) -> None:
    assert listed(rig) == described(rig.tools, rig.broker)


REFUSED = {
    "metadata.version=29": ("upgrade", "Can't downgrade the version of this feature without setting"),
    "metadata.version=29 --downgrade": ("downgrade", "might delete metadata information"),
    "metadata.version=29 --unsafe": ("downgrade --unsafe", "Unsafe metadata downgrade is not supported"),
}


@pytest.mark.kafka
@pytest.mark.parametrize("line", REFUSED)
def test_the_brokers_refuse_what_they_refuse_kafkas_tool(rig: OffsetRig, line: str) -> None:
    command, reason = REFUSED[line]
    tool = rig.tools.ask(rig.broker, TOOL, *command.split(), "--dry-run", "--feature", line.partition(" ")[0])
    message = re.search(r"The update failed for all features .*", tool.stdout)
    assert message is not None
    assert reason in message[0]
    refused = rig.ours("features set", *line.split())
    refused.assert_said(4, f"features: {message[0]} (INVALID_UPDATE_VERSION)")
    assert ("Add --downgrade to allow a lower level" in refused.stderr) == (command == "upgrade")


@pytest.mark.kafka
def test_a_level_that_brokers_do_not_support_is_refused_with_their_names(rig: OffsetRig) -> None:
    (tool,) = re.findall(
        "Local controller .*", rig.tools.ask(rig.broker, TOOL, *_upgrade("group.version=9")).stdout
    )
    assert tool == "Local controller 1 only supports versions 0-1"
    rig.ours("features set group.version=9").assert_said(
        4, "group.version: broker 1 supports 0 to 1, not 9; upgrade the software of these first"
    )


@pytest.mark.kafka
def test_releases_are_those_of_kafkas_tool(rig: OffsetRig) -> None:
    newest = re.search(
        r"metadata.version=\d+ \((\S+)\)", rig.tools.ask(rig.broker, TOOL, "version-mapping").stdout
    )
    assert newest is not None
    names = list(METADATA_VERSIONS.values())
    known = names[names.index("3.3-IV3") : names.index(newest[1]) + 1]
    assert len(known) >= 24
    for release in known:
        mapping = rig.tools.ask(rig.broker, TOOL, "version-mapping", "--release-version", release).stdout
        levels = {name: int(level) for name, level in re.findall(r"(\S+)=(\d+)", mapping)}
        assert release_levels(release, levels, downgrades=True) == levels, release
        upgrade = release_levels(release, levels, downgrades=False)
        assert upgrade == {name: level for name, level in levels.items() if level}, release


def _upgrade(update: str) -> tuple[str, ...]:
    return "upgrade", "--feature", update, "--dry-run"


def test_a_feature_that_the_brokers_are_too_old_for_is_refused(rig: OffsetRig) -> None:
    missing = {"share.version", "streams.version"} - {row[0] for row in listed(rig)}
    for name in missing:
        rig.ours(f"features set {name}=1").assert_said(4, f"{name}: broker 1 supports 0, not 1")


@pytest.fixture
def own(kohort: Kohort, tools: ToolHost, tmp_path: Path) -> Iterator[OffsetRig]:
    """Both tools on a `kohort serve` whose features the test may change."""
    with serving(tmp_path / "data") as served:
        yield OffsetRig(broker=served, kohort=kohort, tools=tools)


def test_a_downgrade_names_the_groups_that_it_turns_off(own: OffsetRig, members: Members) -> None:
    topic, group = own.topic([1]), fresh_name("consumer")
    member = members.confluent(own.broker, group, [topic], group_protocol="consumer")
    member.wait_assignment({topic: [0]})
    preview = own.ours("features set group.version=0 --downgrade").succeeded()
    assert faults(preview.document) == []
    (step,) = preview.document["features"]
    assert (step["before"], step["after"], step["turned_off"], step["applied"]) == (1, 0, [group], None)
    assert "downgraded to 3.4.1 or later" in preview.stderr
    shown = own.ours("features set group.version=0 --downgrade", output="table").stdout
    assert f"1 group: {group}." in " ".join(shown.split())
    assert ("group.version", "0", "1", "1") in {row[:4] for row in described(own.tools, own.broker)}

    line = "features set group.version=0 --downgrade --execute"
    asked = own.asked(line, answer="no\n")
    assert "about to change group.version to 0, which turns off 1 consumer group." in asked.terminal
    done = own.ours(line, "--yes").succeeded()
    assert (done.document["executed"], done.document["features"][0]["applied"]) == (True, True)
    assert ("group.version", "0", "1", "0") in {row[:4] for row in described(own.tools, own.broker)}
    assert listed(own) == described(own.tools, own.broker)
    assert_lists_but_does_not_describe(own, group)

    again = own.ours(line, "--yes").succeeded()
    assert "group.version already has the level 0" in again.stderr
    own.ours("features set group.version=1 transaction.version=2 --execute --yes").succeeded()
    assert ("group.version", "0", "1", "1") in {row[:4] for row in described(own.tools, own.broker)}


def assert_lists_but_does_not_describe(rig: OffsetRig, group: str) -> None:
    """A cluster with group.version=0 lists a consumer group as before, as Kafka's tool shows."""
    remedy = (
        "group.version is 0, so brokers describe no consumer group; `kohort features set group.version=1`"
    )
    listing = rig.ours("list").succeeded()
    assert f"{group}: assignor and members are not known: UNSUPPORTED_VERSION: {remedy}" in listing.stderr
    rows = {row["group"]: row for row in listing.document["groups"]}
    assert (rows[group]["type"], rows[group]["members"], listing.document["errors"]) == ("consumer", None, [])
    for command in ("describe", "diagnose", "plan --to classic"):
        rig.ours(command, group).assert_said(3, f"{group}: UNSUPPORTED_VERSION: {remedy}")


def test_all_levels_are_set_or_none(own: OffsetRig) -> None:
    before = listed(own)
    own.ours(
        "features set transaction.version=1 metadata.version=29 --downgrade --execute --yes"
    ).assert_said(4, "nothing was changed", "might delete metadata information")
    assert listed(own) == before
    own.ours("features set transaction.version=1 --downgrade --execute --yes").succeeded()
    release = own.ours("features set --release-version 4.4").succeeded().document["features"]
    assert [(step["feature"], step["before"], step["after"]) for step in release] == [
        ("transaction.version", 1, 2)
    ]


MISTAKES = {
    "features set metadata.version=4.3": "a number from 0 to 32767 or a name such as 4.3-IV0, not '4.3'",
    "features set group.version=32768": "group.version: the level is a number from 0 to 32767, not '32768'",
    "features set --release-version 9.9": "--release-version: '9.9' is not a release: there are 3.3, 3.4,",
}


@pytest.mark.parametrize("line", MISTAKES)
def test_mistakes_are_named(rig: OffsetRig, line: str) -> None:
    rig.ours(line).assert_refused(MISTAKES[line])


def test_offline_only_finalized_levels_are_known(kohort: Kohort, tmp_path: Path) -> None:
    saved, bare = tmp_path / "saved.yaml", tmp_path / "bare.yaml"
    saved.write_text("kohort: 1\ncluster: {features: {group.version: 1}}\ngroups: {}\n")
    bare.write_text("kohort: 1\ngroups: {}\n")
    (feature,) = (
        kohort.quick("features list --output json --snapshot", saved).succeeded().document["features"]
    )
    assert (feature["finalized"], feature["supported"], feature["brokers"]) == (1, None, [])
    kohort.quick("features list --snapshot", bare).assert_refused(
        "features are not known from this source", status=3
    )
    kohort.quick("features set group.version=1 --snapshot", saved).assert_refused("only on a live cluster")


@LONG
@pytest.mark.kafka
def test_a_real_broker_changes_the_levels_and_its_members_are_refused(
    start_broker: StartBroker, kohort: Kohort, tools: ToolHost, members: Members
) -> None:
    rig = OffsetRig(broker=start_broker({}), kohort=kohort, tools=tools)
    topic, group = rig.topic([1]), fresh_name("consumer")
    member = members.confluent(rig.broker, group, [topic], group_protocol="consumer")
    member.wait_assignment({topic: [0]})
    line = "features set group.version=0 share.version=0 streams.version=0 --downgrade"
    steps = rig.ours(line, "--execute", "--yes").succeeded().document["features"]
    assert [step["turned_off"] for step in steps] == [[group], [], []]
    wait_until(lambda: listed(rig) == described(rig.tools, rig.broker), "both see the new levels")
    assert [row[3] for row in listed(rig) if row[0] in line] == ["0", "0", "0"]
    wait_until(lambda: "UNSUPPORTED_VERSION" in rig.ours("describe", group).stderr, "the group is refused")
    assert_lists_but_does_not_describe(rig, group)
    newest = next(row[2] for row in described(rig.tools, rig.broker) if row[0] == "metadata.version")
    back = (
        rig.ours(f"features set --release-version {newest}", "--execute", "--yes")
        .succeeded()
        .document["features"]
    )
    assert {step["feature"] for step in back} >= {"group.version", "share.version", "streams.version"}
    wait_until(lambda: listed(rig) == described(rig.tools, rig.broker), "both see the old levels")
    wait_until(lambda: rig.ours("describe", group).status == 0, "the group is described again")


@LONG
def test_a_level_that_brokers_refuse_to_set_back_stays(
    kafka_jars: Path, kohort: Kohort, tools: ToolHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOHORT_JOURNAL", str(tmp_path / "journal"))
    broker = Broker(kafka_jars, tmp_path, features={METADATA_VERSION: 29})
    try:
        broker.start()
        rig = OffsetRig(broker=broker, kohort=kohort, tools=tools)
        raised = rig.ours("features set metadata.version=30 --execute --yes").succeeded()
        assert "kohort undo may be refused: brokers" in raised.stderr.partition("changed 1 feature")[0]
        for more, said in (
            ("", "might delete metadata information"),
            ("--execute --yes", "nothing was changed"),
        ):
            answer = rig.ours(f"undo {more}")
            answer.assert_said(4, "Unsupported metadata.version downgrade from 30 to 29", said)
            (change,) = answer.document["changes"]
            assert (answer.document["executed"], change["now"], change["applied"]) == (False, 30, None)
        assert (METADATA_VERSION, "4.3-IV0") in {(row[0], row[3]) for row in listed(rig)}
        assert len(read_journal(tmp_path / "journal")[0]) == 1  # an undo that sends nothing has no entry
    finally:
        broker.crash()
