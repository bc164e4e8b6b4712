"""The groups of several clusters in one list: keys and commands are about the cluster of the group under the cursor."""

from dataclasses import replace
from pathlib import Path

import pytest

from cli.options import SelectionOptions, SourceOptions
from cli.verbs.top.options import TopOptions
from tests.cli.command import Kohort
from tests.cli.offset_rig import OffsetRig
from tests.cli.served_data import serving
from tests.cli.verbs.top.driving import MIDDLE, Driven, drive
from tests.kafka.tool_host import ToolHost
from tests.wire.client.peer import closed_port

TEXT = """kohort: 1
topics: {{orders: {{partitions: 1, end_offsets: {{0: {end}}}}}}}
groups:
  both: {{type: classic, state: Empty, offsets: {{orders: {{0: {{offset: 2}}}}}}}}
  only-{name}: {{type: consumer, state: Empty, offsets: {{orders: {{0: {{offset: 2}}}}}}}}
"""


@pytest.fixture
def clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceOptions:
    """Give the contexts east (protected) and west, which are files, and `dead`, which refuses connections."""
    monkeypatch.setenv("KOHORT_CONFIG", str(tmp_path / "config.d"))
    (tmp_path / "config.d").mkdir()
    with closed_port() as dead:
        sources = {"dead": f"bootstrap_server: {dead}\n"}
    for name, end in (("east", 9), ("west", 1002)):
        (tmp_path / f"{name}.yaml").write_text(TEXT.format(name=name, end=end))
        sources[name] = f"snapshot: {tmp_path}/{name}.yaml\nprotected: {str(name == 'east').lower()}\n"
    for name, text in sources.items():
        (tmp_path / "config.d" / f"{name}.yaml").write_text(text)
    return SourceOptions(clusters=("west", "dead", "east"), timeout_ms=1000)


def test_groups_of_all_clusters_and_the_one_under_the_cursor(clusters: SourceOptions) -> None:
    async def course(driven: Driven) -> None:
        await driven.wait_for(lambda: driven.text.count(" 7 ") == driven.text.count(" 1000 ") == 2, "lag")
        await driven.wait_for("dead: ", "a cluster that does not answer is named")
        rows = [line.split()[:2] for line in driven.lines if line.split()[:1] in (["west"], ["east"])]
        assert rows == [["west", "both"], ["west", "only-west"], ["east", "both"], ["east", "only-east"]]
        assert "3 clusters  4 groups" in driven.lines[0]
        assert "west" in driven.lines[0]
        await driven.press("down", "down")
        assert "east (protected)" in driven.lines[0]
        assert driven.app.group == "both"
        assert driven.app.source.place is not None
        assert driven.app.source.place.name == "east"
        await driven.press("left_square_bracket")  # The past is that of one cluster
        assert driven.screen == "ClustersScreen"
        await driven.press("enter")
        await driven.wait_for(lambda: driven.screen == "GroupScreen", "the group is open")
        assert "east (protected)" in driven.lines[0]
        await driven.wait_for("9", "its offsets")
        await driven.press("d")
        await driven.wait_for(lambda: driven.screen == "OutputScreen", "a command")
        assert "--context east" in " ".join(driven.text.split())
        await driven.press("escape", "escape")
        await driven.wait_for(lambda: driven.screen == "ClustersScreen", "the list again")
        await driven.press("home")
        assert "west" in driven.lines[0]

    drive(course, clusters, size=MIDDLE)


def test_clusters_and_groups_stay_while_other_columns_move(clusters: SourceOptions, tmp_path: Path) -> None:
    name = f"only-{'x' * 60}"
    (tmp_path / "west.yaml").write_text(TEXT.format(name="x" * 60, end=9))

    async def course(driven: Driven) -> None:
        await driven.wait_for(f"west      {name[:15]}…{name[-8:]}  Empty", "a long name is shortened")
        await driven.press("right", "right")
        await driven.wait_for(lambda: "STATE" not in driven.text, "columns have moved")
        assert f"west      {name[:15]}…{name[-8:]}  " in driven.text

    drive(course, clusters)


def test_a_named_group_is_searched_in_all_clusters(clusters: SourceOptions) -> None:
    async def course(driven: Driven) -> None:
        await driven.wait_for("west      both", "the group is listed")
        assert "only-" not in driven.text
        await driven.press("escape")
        await driven.wait_for("only-east", "the others without the filter")

    options = TopOptions(every=3600.0, selection=SelectionOptions(groups=["both"]))
    drive(course, clusters, options, size=MIDDLE)


def test_what_needs_one_cluster(clusters: SourceOptions, kohort: Kohort) -> None:
    kohort.quick("top --web --context east,west").assert_refused("--web serves one cluster")
    answer = kohort.quick("top --once --context east,west").succeeded()
    assert [line.split()[:2] for line in answer.stdout.splitlines()[:3]] == [
        *(["CLUSTER", "GROUP"], ["east", "both"], ["east", "only-east"])
    ]


def test_a_change_is_one_of_the_cluster_under_the_cursor(
    clusters: SourceOptions, tmp_path: Path, kohort: Kohort, tools: ToolHost
) -> None:
    with serving(None) as east, serving(None) as west:
        rigs = [OffsetRig(broker=broker, kohort=kohort, tools=tools) for broker in (west, east)]
        for name, rig in zip(("west", "east"), rigs, strict=True):
            group = rig.group({(rig.topic([5], name="orders"), 0): 3}, name="both")
            text = f"bootstrap_server: {rig.broker.bootstrap}\nprotected: {str(name == 'east').lower()}\n"
            (tmp_path / "config.d" / f"{name}.yaml").write_text(text)

        async def course(driven: Driven) -> None:
            await driven.wait_for(lambda: driven.text.count(" both ") == 2, "the group in both")
            await driven.press("down", "R", "enter")
            await driven.wait_for("x makes the change", "the preview")
            assert "--context east" in driven.lines[0]
            await driven.press("x")
            await driven.wait_for("Type east to make the change")
            await driven.type("east")
            await driven.press("enter")
            await driven.wait_for("Undo: kohort undo")

        drive(course, replace(clusters, clusters=("west", "east"), timeout_ms=30_000), size=MIDDLE)
        assert [rig.committed(group) for rig in rigs] == [{("orders", 0): 3}, {("orders", 0): 5}]
