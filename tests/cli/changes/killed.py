"""The changes that are killed: every command that writes an entry, with what must be there before it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
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
EXECUTED = ("--execute", "--yes")
Prepare = Callable[[Scene, ExitStack], object]


@dataclass(frozen=True, kw_only=True)
class KilledChange:
    """A command line, from names of the scene. It is killed within `lasts_s`, or None: soon after its entry began."""

    line: Callable[[Scene], Sequence[str | Path]]
    prepare: Prepare
    program: str = "kohort"
    lasts_s: float | None = None
    needs_kafka: bool = False

    def command(self, scene: Scene) -> Sequence[str | Path]:
        execution = EXECUTED if self.program == "kohort" else ()
        return *self.line(scene), "--bootstrap-server", scene.bootstrap, *execution


def _of(change: Change) -> KilledChange:
    return KilledChange(
        line=change.line, program=change.program, prepare=lambda scene, _: change.prepare(scene)
    )


def _line(text: str, prepare: Prepare, **more: Any) -> KilledChange:
    def line(scene: Scene) -> Sequence[str]:
        return (text.format(group=scene.group, topic=scene.topic),)

    return KilledChange(line=line, prepare=prepare, **more)


def _sharing(scene: Scene, _: ExitStack) -> None:
    """A share group that begins at 3."""
    name = f"{scene.group}-share"
    altered = alter_share_group_offsets(scene.client, {name: {(scene.topic, 0): 3}})
    assert not any(altered.found[name].values()), altered


def _streaming(scene: Scene, _: ExitStack) -> None:
    """The group becomes one of Streams, without a member; it has committed 3."""
    changelog = f"{scene.group}-store-changelog"
    create_topics(scene.broker, {changelog: 1})
    for epoch in (0, -1):
        beat = partial(streams_heartbeat, scene.client, scene.group, scene.topic, epoch)
        wait_until(beat, "the member is answered")
    scene.commit(3)


def _application(scene: Scene, _: ExitStack) -> None:
    create_topics(scene.broker, {f"{scene.group}-store-changelog": 1})
    scene.join()


def _upgraded(scene: Scene, _: ExitStack) -> None:
    failure = update_features(scene.client, {FEATURE: 2}, UPGRADE, validate_only=False)
    assert failure is None, failure


def _changed(scene: Scene, _: ExitStack) -> None:
    """Settings and offsets have been changed: what an undo restores in two parts."""
    played = play(*CHANGES["apply"].command(scene, 30))
    assert played.status == 0, played


def _bridged(scene: Scene, _: ExitStack) -> None:
    """A group whose leader writes user data. Its members do not rejoin, so the bridge waits for them."""
    group = RawGroup(broker=scene.broker, id=f"{scene.group}-raw", assignor="sticky", user_data=b"data")
    group.grow(2)


def _planned(scene: Scene, stack: ExitStack) -> None:
    """Two consumers, a command that restarts them, and a plan."""
    port, group, topic = scene.broker, f"{scene.group}-old", f"{scene.group}-orders"
    create_topics(port, {topic: 2})
    directory = scene.directory / scene.group
    directory.mkdir()
    stack.enter_context(restarted_group(port, directory, group, topic, 2))
    target = "--to consumer --client librdkafka:2.15.0 --output yaml"
    made = play(f"plan {group} {target} -b {scene.bootstrap}")
    assert made.status == 0, made
    (directory / "plan.yaml").write_text(made.stdout)


def _plan_and_hook(scene: Scene) -> tuple[str | Path, ...]:
    directory = scene.directory / scene.group
    return directory / "plan.yaml", "--restart", directory / "restart"


_share = partial(_line, prepare=_sharing, needs_kafka=True)
_share_tool = partial(_share, program="kohort-share-groups")
_streams_tool = partial(_line, prepare=_streaming, program="kohort-streams-groups", needs_kafka=True)
KILLED: Mapping[str, KilledChange] = {
    **{name: _of(change) for name, change in CHANGES.items() if name != "fault"},
    "features": _line(f"features set {FEATURE}=1 --downgrade", _upgraded),
    "undo": _line("undo", _changed),
    "bridge": _line("bridge {group}-raw", _bridged, lasts_s=2),
    "migrate": KilledChange(
        line=lambda scene: ("migrate", *_plan_and_hook(scene), "--watch", "0"), prepare=_planned, lasts_s=12
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
