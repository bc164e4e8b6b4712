"""The changes that are killed: every command that writes an entry, with what must be there before it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tests.cli.changes.playing import play
from tests.cli.changes.scene import CHANGES, Change, Scene
from tests.cli.dropin.modern_scene import streams_heartbeat
from tests.cli.verbs.migrate.restarted_group import restarted_group
from tests.kafka.topics import create_topics
from tests.kafka.wait import wait_until
from tests.migration.raw_group import RawGroup
from wire.client.features import UPGRADE, update_features
from wire.client.offsets import alter_share_group_offsets

FEATURE = "transaction.version"


def _line(text: str, prepare: Callable[[Scene], None], program: str = "kohort", **more: Any) -> Change:
    return Change(
        line=lambda scene: (text.format(group=scene.group, topic=scene.topic, directory=scene.directory),),
        prepare=prepare,
        program=program,
        confirmation=("--execute", "--yes") if program == "kohort" else (),
        **more,
    )


def _sharing(scene: Scene) -> None:
    """A share group that begins at 3."""
    name = f"{scene.group}-share"
    altered = alter_share_group_offsets(scene.client, {name: {(scene.topic, 0): 3}})
    assert not any(altered.found[name].values()), altered


def _streaming(scene: Scene) -> None:
    """The group becomes one of Streams, without a member; it has committed 3."""
    create_topics(scene.broker, {f"{scene.group}-store-changelog": 1})
    for epoch in (0, -1):
        beat = partial(streams_heartbeat, scene.client, scene.group, scene.topic, epoch)
        wait_until(beat, "the member is answered")
    scene.commit(3)


def _application(scene: Scene) -> None:
    create_topics(scene.broker, {f"{scene.group}-store-changelog": 1})
    scene.join()


def _upgraded(scene: Scene) -> None:
    failure = update_features(scene.client, {FEATURE: 2}, UPGRADE, validate_only=False)
    assert failure is None, failure


def _changed(scene: Scene) -> None:
    """Settings and offsets have been changed: what an undo restores in two parts."""
    played = play(*CHANGES["apply"].command(scene, 30))
    assert played.status == 0, played


def _bridged(scene: Scene) -> None:
    """A group whose leader writes user data. Its members do not rejoin, so the bridge waits for them."""
    group = RawGroup(broker=scene.broker, id=f"{scene.group}-raw", assignor="sticky", user_data=b"data")
    group.grow(2)


def _planned(scene: Scene) -> None:
    """Two consumers, a command that restarts them, and a plan."""
    group, topic, directory = f"{scene.group}-old", f"{scene.group}-orders", scene.directory / scene.group
    directory.mkdir()
    create_topics(scene.broker, {topic: 2})
    scene.ends.enter_context(restarted_group(scene.broker, directory, group, topic, 2))
    target = "--to consumer --client librdkafka:2.15.0 --output yaml"
    made = play(f"plan {group} {target} -b {scene.bootstrap}")
    assert made.status == 0, made
    (directory / "plan.yaml").write_text(made.stdout)


_share = partial(_line, prepare=_sharing, needs_kafka=True)
_share_tool = partial(_share, program="kohort-share-groups")
_streams_tool = partial(_line, prepare=_streaming, program="kohort-streams-groups", needs_kafka=True)
KILLED: Mapping[str, Change] = {
    **{name: change for name, change in CHANGES.items() if name != "fault"},
    "features": _line(f"features set {FEATURE}=1 --downgrade", _upgraded),
    "undo": _line("undo", _changed),
    "bridge": _line("bridge {group}-raw", _bridged, lasts_s=2),
    "migrate": _line(
        "migrate {directory}/{group}/plan.yaml --restart {directory}/{group}/restart --watch 0", _planned, lasts_s=12
    ),
    "the application's reset": _line(
        "--application-id {group} --input-topics {topic} --force", _application,
        program="kohort-streams-application-reset",
    ),
    "share reset": _share("offsets reset {group}-share --topic {topic}:0 --to-offset 7"),
    "share deletion of offsets": _share("offsets delete {group}-share --topic {topic}"),
    "share deletion": _share("delete {group}-share"),
    "the share tool's reset": _share_tool(
        "--reset-offsets --execute --group {group}-share --topic {topic}:0 --to-latest"
    ),
    "the share tool's deletion of offsets": _share_tool("--delete-offsets --group {group}-share --topic {topic}"),
    "the share tool's deletion": _share_tool("--delete --group {group}-share"),
    "the streams tool's reset": _streams_tool(
        "--reset-offsets --execute --group {group} --input-topic {topic}:0 --to-latest --delete-all-internal-topics"
    ),
    "the streams tool's deletion of offsets": _streams_tool("--delete-offsets --group {group} --input-topic {topic}"),
    "the streams tool's deletion": _streams_tool("--delete --group {group} --delete-all-internal-topics"),
}  # fmt: skip
