"""Changes by agents: only those that are allowed, of groups that are allowed, and only as their preview showed them."""

import json
from pathlib import Path

import pytest
from mcp import Client

from cli.errors import UsageError
from cli.options import SourceOptions
from cli.sources.contexts.resolve import resolve_source
from cli.verbs.mcp.options import McpOptions
from tests.cli.command import Kohort
from tests.cli.offset_rig import OffsetRig
from tests.cli.verbs.mcp.agents import NAME, answer, found, in_process, over_stdio, refused, text

DIGEST = r"digest (\w{16})\n"
ALL = "offsets-reset,offsets-delete,config-set,config-unset,delete,members-remove,undo"
OPTIONS = McpOptions(allow=ALL, groups="payments.*|quiet")


async def preview(client: Client, name: str, **arguments: object) -> str:
    """The digest of a change."""
    shown = await client.call_tool(f"{name}_preview", arguments)
    assert not shown.is_error, text(shown)
    assert shown.structured_content["executed"] is False
    return found(DIGEST, text(shown))


def of(rig: OffsetRig) -> SourceOptions:
    return SourceOptions(bootstrap_server=rig.broker.bootstrap)


def entries(journal: Path) -> list[dict[str, object]]:
    lines = [json.loads(line) for file in journal.glob("*.jsonl") for line in file.read_text().splitlines()]
    return [line for line in lines if "verb" in line]


def test_each_change_is_made_as_its_preview_showed_it(
    rig: OffsetRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOHORT_JOURNAL", str(tmp_path / "journal"))
    topic = rig.topic([5, 5])
    group = rig.group({(topic, 0): 1, (topic, 1): 2})
    reset = {"groups": [group], "topic": [topic], "to_offset": 4}
    setting = "consumer.session.timeout.ms"
    changes: list[tuple[str, dict[str, object]]] = [
        ("config_set", {"group": group, "values": [f"{setting}=50000"]}),
        ("config_unset", {"group": group, "names": [setting]}),
        ("offsets_delete", {"groups": [group], "topic": [f"{topic}:1"]}),
        ("delete", {"groups": [group]}),
    ]

    async def course(client: Client) -> None:
        digest = await preview(client, "offsets_reset", **reset)
        assert rig.committed(group) == {(topic, 0): 1, (topic, 1): 2}
        await answer(client, "offsets_reset_execute", **reset, digest=digest)
        assert rig.committed(group) == {(topic, 0): 4, (topic, 1): 4}
        said = await refused(client, "offsets_reset_execute", **reset, digest=digest)
        assert "no longer what its preview showed" in said
        for name, arguments in changes:
            digest = await preview(client, name, **arguments)
            executed = await answer(client, f"{name}_execute", **arguments, digest=digest)
            assert executed["executed"] is True, executed
        with rig.joined(group, topic) as member:
            remove = {"group": group, "member": [member]}
            digest = await preview(client, "members_remove", **remove)
            await answer(client, "members_remove_execute", **remove, digest=digest)
        await undo(client)

    async def undo(client: Client) -> None:
        first = (await answer(client, "journal", group=[group]))["entries"]
        assert isinstance(first, list)
        assert {entry["agent"] for entry in first} == {NAME}
        undone = {"entry": next(entry["id"] for entry in first if entry["verb"] == "delete")}
        assert not rig.committed(group)
        digest = await preview(client, "undo", **undone)
        await answer(client, "undo_execute", **undone, digest=digest)
        assert rig.committed(group) == {(topic, 0): 4}

    in_process(course, of(rig), OPTIONS, tmp_path)
    made = entries(tmp_path / "journal")
    assert [entry["verb"] for entry in made] == [
        "offsets reset", "config set", "config unset", "offsets delete", "delete", "members remove", "undo",
    ]  # fmt: skip
    assert {entry["agent"] for entry in made} == {NAME}


def test_a_group_that_has_moved_stays_as_it_is(rig: OffsetRig, tmp_path: Path) -> None:
    topic = rig.topic([5])
    group = rig.group({(topic, 0): 1})
    reset = {"groups": [group], "topic": [topic], "to_offset": 4}

    async def course(client: Client) -> None:
        digest = await preview(client, "offsets_reset", **reset)
        rig.group({(topic, 0): 2}, group)
        for wrong in (digest, "", "x", digest[:-1]):
            said = await refused(client, "offsets_reset_execute", **reset, digest=wrong)
            reason = "no longer what its preview showed" if wrong == digest else "no preview had this digest"
            assert reason in said
        other = {**reset, "to_offset": 3}
        digest = await preview(client, "offsets_reset", **reset)
        await refused(client, "offsets_reset_execute", **other, digest=digest)
        await refused(client, "offsets_reset_execute", **reset)

    in_process(course, of(rig), OPTIONS, tmp_path)
    assert rig.committed(group) == {(topic, 0): 2}


def test_only_groups_that_match_whole_are_changed(rig: OffsetRig, tmp_path: Path) -> None:
    topic = rig.topic([1])
    for name in ("payments", "other", "a-payments", "quieter", "payments\nother"):
        rig.group({(topic, 0): 1}, name)

    async def course(client: Client) -> None:
        await preview(client, "delete", groups=["payments"])
        others = (["a-payments"], ["quieter"], ["payments\nother"], ["payments", "other"], [""])
        for groups in (["other"], *others):
            for step in ({}, {"digest": "0"}):
                name = "delete_execute" if step else "delete_preview"
                assert "may not be changed" in await refused(client, name, groups=groups, **step)
        for more in ({}, {"match": "payments"}, {"all_groups": True}, {"no_journal": True}, {"confirm": "x"}):
            await refused(client, "delete_preview", **more)
        assert "may not" in await refused(client, "config_set_preview", group="other", values=["a=1"])
        assert "is not allowed" in await refused(client, "offsets_reset_preview", groups=["payments"])

    options = McpOptions(allow="delete, config set", groups="payments.*|quiet")
    in_process(course, of(rig), options, tmp_path)


def test_undo_is_limited_to_the_same_groups(
    rig: OffsetRig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOHORT_JOURNAL", str(tmp_path / "journal"))
    topic = rig.topic([5])
    group = rig.group({(topic, 0): 1}, "other-undone")
    rig.ours("offsets reset", group, "--topic", topic, "--to-offset", "4", "--execute", "--yes").succeeded()

    async def course(client: Client) -> None:
        (entry,) = (await client.call_tool("journal", {})).structured_content["entries"]
        for more in ({}, {"entry": entry["id"]}):
            assert "may not be changed" in await refused(client, "undo_preview", **more)
            assert "no preview" in await refused(client, "undo_execute", **more, digest="0" * 32)

    in_process(course, of(rig), McpOptions(allow="undo", groups="payments"), tmp_path)
    assert rig.committed(group) == {(topic, 0): 4}


@pytest.mark.kafka
def test_an_agent_on_kafka_sees_a_group_and_resets_it(rig: OffsetRig, tmp_path: Path) -> None:
    topic = rig.topic([5])
    group = rig.group({(topic, 0): 1})
    reset = {"groups": [group], "topic": [topic], "to_earliest": True}

    async def course(client: Client) -> None:
        lag = await client.call_tool("lag", {"match": f"^{group}$"})
        assert lag.structured_content["groups"][0]["lag"] == 4
        digest = await preview(client, "offsets_reset", **reset)
        await answer(client, "offsets_reset_execute", **reset, digest=digest)

    allowed = ("--allow", "offsets-reset", "--groups", "payments.*")
    over_stdio(course, "-b", rig.broker.bootstrap, *allowed, stderr=tmp_path / "stderr")
    assert (tmp_path / "stderr").read_text() == ""
    assert rig.committed(group) == {(topic, 0): 0}


def test_a_protected_context_is_never_changed(
    rig: OffsetRig, kohort: Kohort, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KOHORT_CONFIG", str(tmp_path / "contexts"))
    for name, more in (("production", ["--protected"]), ("staging", [])):
        kohort.quick("context add", name, "-b", rig.broker.bootstrap, *more).succeeded()
    topic = rig.topic([1])
    group = rig.group({(topic, 0): 0})

    async def course(client: Client) -> None:
        (tool,) = [tool for tool in (await client.list_tools()).tools if tool.name == "delete_execute"]
        assert tool.input_schema["properties"]["context"]["enum"] == ["staging", "production"]
        await refused(client, "list", context="elsewhere")
        digest = await preview(client, "delete", groups=[group], context="production")
        said = await refused(client, "delete_execute", groups=[group], context="production", digest=digest)
        assert "is protected" in said
        assert rig.committed(group)
        digest = await preview(client, "delete", groups=[group])
        await answer(client, "delete_execute", groups=[group], digest=digest)

    options = McpOptions(contexts="staging,production", allow="delete", groups=".*")
    in_process(course, SourceOptions(), options, tmp_path)
    assert not rig.committed(group)
    production = resolve_source(SourceOptions(context="production"))
    with pytest.raises(UsageError, match="protected"):
        in_process(course, production, McpOptions(allow="delete", groups=".*"), tmp_path)
    monkeypatch.setenv("KOHORT_JOURNAL", "off")
    with pytest.raises(UsageError, match="without an entry in the journal"):
        in_process(course, SourceOptions(), options, tmp_path)
