"""A change of the finalized levels of features: checked here and by the brokers, and what it turns off."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from cli.changing import ClusterChange, Outcome, Part
from cli.errors import UsageError
from cli.journal.entry import ChangedItem, ItemKind
from cli.output import notice
from cli.render.document import Block, Document, Text, table_of
from cli.render.lines import Role
from cli.sources.live import LiveSource
from cli.sources.source import Source
from cli.sources.writer import ClusterWriter, Failed
from cli.verbs.features.listing import ReadFeatures, read_features, supported_text
from groups.counts import counted, first_names
from groups.features import (
    AFTER_CONSUMER_GROUPS,
    MEANINGS,
    METADATA_VERSION,
    METADATA_VERSIONS,
    OFF,
    ClusterFeature,
    level_name,
    lost_type,
    meaning,
    release_levels,
)
from groups.listing import GroupFilter, GroupType, Problem
from wire.client.features import SAFE_DOWNGRADE, UNSAFE_DOWNGRADE, UPGRADE
from wire.suggestion import did_you_mean

CLUSTER = "features"  # The subject of what is about all updates: they are one request
_GROUPS_SHOWN = 20
_HIGHEST = 32767


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsRequest:
    """The requested levels: of single features, or of a release."""

    levels: Mapping[str, int]
    release: str | None
    upgrade_type: int

    @classmethod
    def parse(
        cls, texts: Iterable[str], release: str | None, *, downgrade: bool, unsafe: bool
    ) -> "LevelsRequest":
        """Raises UsageError: not FEATURE=LEVEL, named twice, nothing to set, or two kinds of requests."""
        levels: dict[str, int] = {}
        for text in texts:
            name, equals, level = (part.strip() for part in text.partition("="))
            if not equals or not name:
                raise UsageError(f"{text!r} is not FEATURE=LEVEL, such as group.version=1")
            if name in levels:
                raise UsageError(f"{name} is given twice")
            levels[name] = _parse_level(name, level)
        if bool(levels) is (release is not None):
            raise UsageError("name levels, such as group.version=1, or a release with --release-version")
        kind = UNSAFE_DOWNGRADE if unsafe else SAFE_DOWNGRADE if downgrade else UPGRADE
        return cls(levels=levels, release=release, upgrade_type=kind)


def _parse_level(feature: str, text: str) -> int:
    if feature == METADATA_VERSION:
        for level, name in METADATA_VERSIONS.items():
            if name == text:
                return level
    if not text.isascii() or not text.isdecimal() or int(text) > _HIGHEST:
        or_name = " or a name such as 4.3-IV0" if feature == METADATA_VERSION else ""
        raise UsageError(f"{feature}: the level is a number from 0 to {_HIGHEST}{or_name}, not {text!r}")
    return int(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureStep:
    """A feature's new level, and the groups that it turns off. `turned_off` is None if they could not be listed."""

    feature: ClusterFeature
    level: int
    lost_type: GroupType | None
    turned_off: tuple[str, ...] | None

    @property
    def is_downgrade(self) -> bool:
        return self.level < self.feature.finalized


@dataclass(frozen=True, slots=True, kw_only=True)
class FeaturesPlan:
    """All updates of a request: the brokers make all, or none."""

    steps: tuple[FeatureStep, ...]
    refusals: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    group: str = CLUSTER

    @property
    def applicable(self) -> bool:
        return bool(self.steps) and not self.refusals and not self.problems

    @property
    def levels(self) -> dict[str, int]:
        return {step.feature.name: step.level for step in self.steps}


@dataclass(slots=True, kw_only=True)
class FeaturesChange(ClusterChange[FeaturesPlan]):
    did, what = "changed", "level"
    shown_by = "features list"

    source: Source
    writer: ClusterWriter
    upgrade_type: int

    def objections(self, plan: FeaturesPlan) -> Sequence[Problem]:
        return (*plan.refusals, *plan.problems)

    @property
    def _steps(self) -> tuple[FeatureStep, ...]:
        return self.plans[0].steps

    @property
    def question(self) -> str:
        lost = [
            counted(len(step.turned_off or ()), f"{step.lost_type.value} group")
            for step in self._steps
            if step.lost_type is not None
        ]
        also = f", which turns off {', '.join(lost)}" if lost else ""
        names = ", ".join(
            f"{step.feature.name} to {level_name(step.feature.name, step.level)}" for step in self._steps
        )
        return f"change {names}{also}"

    @property
    def done(self) -> str | None:
        return f"changed {counted(len(self._steps), 'feature')}" if self.applied(CLUSTER) else None

    def check_again(self, *, was_asked: bool) -> None:
        now = read_features(self.source).by_name
        for step in self._steps:
            name, before = step.feature.name, step.feature.finalized
            if (after := now[name].finalized if name in now else 0) != before:
                self.compared(name, CLUSTER, before, after, was_asked=was_asked)

    def items_of(self, plan: FeaturesPlan) -> Iterator[tuple[Part, ChangedItem]]:
        for step in plan.steps:
            feature = step.feature
            yield (
                None,
                ChangedItem(
                    kind=ItemKind.FEATURE, name=feature.name, before=feature.finalized, after=step.level
                ),
            )

    def send(self) -> Iterator[Outcome]:
        levels = self.plans[0].levels
        yield {(CLUSTER, None): self.writer.update_features(levels, self.upgrade_type, validate_only=False)}

    def document(self) -> Document:
        table = table_of(
            self._steps,
            ("FEATURE", lambda step: step.feature.name),
            ("CURRENT", lambda step: level_name(step.feature.name, step.feature.finalized)),
            ("NEW", lambda step: level_name(step.feature.name, step.level)),
            ("SUPPORTED", lambda step: supported_text(step.feature.name, step.feature.supported)),
            ("MEANING", lambda step: meaning(step.feature.name, step.level)),
        )
        blocks: list[Block] = [self.with_states(table, [(CLUSTER, None)] * len(self._steps))]
        blocks += [Text(text, Role.BAD) for step in self._steps if (text := _lost_text(step))]
        return Document(
            command="features set",
            data={"executed": self.outcome is not None, "features": list(map(self._data, self._steps))},
            blocks=blocks if self._steps else [],
            errors=tuple(self.errors),
            remarks=tuple(
                AFTER_CONSUMER_GROUPS
                for step in self._steps
                if step.lost_type is GroupType.CONSUMER and not self.refused
            ),
        )

    def _data(self, step: FeatureStep) -> dict[str, object]:
        name, before, supported = step.feature.name, step.feature.finalized, step.feature.supported
        return {
            "feature": name,
            "before": before,
            "after": step.level,
            "name_before": level_name(name, before),
            "name_after": level_name(name, step.level),
            "meaning": meaning(name, step.level),
            "supported": supported and {"min": supported.lowest, "max": supported.highest},
            "turned_off": None if step.turned_off is None else list(step.turned_off),
            "applied": self.applied(CLUSTER),
        }


def _lost_text(step: FeatureStep) -> str:
    if step.lost_type is None:
        return ""
    kind = step.lost_type.value
    if step.turned_off is None:
        names = f"Which {kind} groups there are could not be read."
    elif step.turned_off:
        names = f"{counted(len(step.turned_off), 'group')}: {first_names(step.turned_off, _GROUPS_SHOWN)}."
    else:
        names = f"There are no {kind} groups now."
    return (
        f"{step.feature.name}={step.level} turns {kind} groups off: brokers answer their members with "
        f"UNSUPPORTED_VERSION, which stops Java's. The groups become Empty, and keep their offsets. {names}"
    )


def plan_features(source: Source, request: LevelsRequest) -> FeaturesChange:
    """Plan a change of levels, which the brokers check. Raises UsageError: no live cluster, or no such feature or
    release. Raises CommandError. Raises WireError."""
    if not isinstance(source, LiveSource):
        raise UsageError(
            f"features can be changed only on a live cluster, not in {source.name}; name a live cluster "
            "(--bootstrap-server)"
        )
    writer = ClusterWriter(source)
    writer.check_features()
    read = read_features(source)
    levels = dict(request.levels) or _of_release(request, read.by_name)
    steps = []
    for name, level in levels.items():
        feature = read.by_name.get(name) or _missing(name, read)
        if level == feature.finalized:
            if request.release is None:
                notice(f"{name} already has the level {level_name(name, level)}")
            continue
        steps.append(_step(source, feature, level))
    if request.release is not None and not steps:
        notice(f"all features have the levels of {request.release} already")
    refusals = tuple(chain.from_iterable(_unsupported(step) for step in steps))
    plan = FeaturesPlan(steps=tuple(steps), refusals=refusals)
    if plan.applicable:
        failed = writer.update_features(plan.levels, request.upgrade_type, validate_only=True)
        plan = _with(plan, failed, request.upgrade_type)
    return FeaturesChange(
        plans=[plan], problems=read.problems, source=source, writer=writer, upgrade_type=request.upgrade_type
    )


def _missing(name: str, read: ReadFeatures) -> ClusterFeature:
    """A feature that all brokers are too old for. Raises UsageError: no release has it."""
    if name not in MEANINGS:
        hint = did_you_mean(name, read.by_name) or f"; there are {', '.join(read.by_name)}"
        raise UsageError(f"{name} is not a feature of this cluster{hint}")
    brokers = {broker for feature in read.by_name.values() for broker in feature.by_broker}
    return ClusterFeature(name=name, finalized=0, by_broker=dict.fromkeys(brokers, OFF))


def _of_release(request: LevelsRequest, names: Iterable[str]) -> dict[str, int]:
    try:
        return release_levels(request.release or "", names, downgrades=request.upgrade_type != UPGRADE)
    except ValueError as error:
        raise UsageError(f"--release-version: {error}") from None


def _step(source: Source, feature: ClusterFeature, level: int) -> FeatureStep:
    kind = lost_type(feature.name, feature.finalized, level)
    turned_off: tuple[str, ...] | None = ()
    if kind is not None:
        listed = source.select_groups(GroupFilter(types=frozenset({kind})), described=False)
        turned_off = None if listed.problems else tuple(sorted(group.id for group in listed.items))
    return FeatureStep(feature=feature, level=level, lost_type=kind, turned_off=turned_off)


def _unsupported(step: FeatureStep) -> Iterator[Problem]:
    name = step.feature.name
    brokers: dict[str, list[str]] = {}
    for broker, levels in sorted(step.feature.lacking(step.level).items()):
        brokers.setdefault(supported_text(name, levels) or "", []).append(broker)
    for levels_text, nodes in brokers.items():
        word = "broker" if len(nodes) == 1 else "brokers"
        verb = "supports" if len(nodes) == 1 else "support"
        todo = "" if step.is_downgrade else "; upgrade the software of these first"
        brokers_text = f"{word} {first_names(nodes, _GROUPS_SHOWN)} {verb} {levels_text}"
        yield Problem(subject=name, message=f"{brokers_text}, not {level_name(name, step.level)}{todo}")


def _with(plan: FeaturesPlan, failed: Failed | None, upgrade_type: int) -> FeaturesPlan:
    if failed is None:
        return plan
    lower = upgrade_type == UPGRADE and any(step.is_downgrade for step in plan.steps)
    hint = " Add --downgrade to allow a lower level." if lower and failed.refused else ""
    problem = Problem(subject=CLUSTER, message=f"{failed.message}{hint}")
    if failed.refused:
        return FeaturesPlan(steps=plan.steps, refusals=(problem,))
    return FeaturesPlan(steps=plan.steps, problems=(problem,))
