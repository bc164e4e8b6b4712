"""Settings of a group: the settings in force, and the effect of a change."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cli.changing import GROUPS_NAMED, ClusterChange, Outcome, Part, summed
from cli.errors import CommandError, UsageError
from cli.journal.entry import ChangedItem, ItemKind
from cli.output import notice
from cli.render.document import Document, fields, table_of
from cli.selection import with_close_names
from cli.sources.admin import AdminSource, admin_client
from cli.sources.group_settings import GroupSettings
from cli.sources.live import LiveSource
from cli.sources.source import Source
from cli.sources.wire_source import WireSource
from cli.sources.writer import Failed
from groups.counts import counted, first_names
from groups.model import Cause, GroupType, Problem
from groups.settings import ConfigOrigin, GroupConfig, faults, own_settings
from wire.suggestion import did_you_mean

NO_SUCH_GROUP = "no such group; the settings apply once it exists"


def settings_of(source: LiveSource) -> GroupSettings:
    admin = source.admin if isinstance(source, AdminSource) else admin_client(source.settings)
    client = source.client if isinstance(source, WireSource) else None
    return GroupSettings(admin, source.timeout_ms / 1000, source.notices, client)


def known_configs(source: Source, group: str) -> Mapping[str, GroupConfig]:
    """The settings of a group by name; offline, only those set for it. CommandError if they are not known."""
    if isinstance(source, LiveSource):
        return settings_of(source).read([group])[group]
    known = source.group_settings([group]).by_group
    if group not in known:
        for problem in _absence(source, group):
            raise CommandError(f"{problem.subject}: {problem.message}")
        raise CommandError(
            f"{group}: its settings are not known from {source.name}; "
            "name a live cluster (--bootstrap-server), or the log directory of a KRaft broker (--log-dir)"
        )
    return known[group]


def read_configs(source: Source, group: str, names: Sequence[str]) -> list[GroupConfig]:
    """The named settings of a group, or all that are known. Raises UsageError. Raises CommandError."""
    configs = known_configs(source, group)
    if isinstance(source, LiveSource):
        check_names(names, configs)
    elif not names:
        notice(f"{group}: only settings of this group are shown; the brokers' settings are not known offline")
    for name in names:
        if name not in configs:
            notice(
                f"{group}: {name} is not set for this group; the brokers' own setting is not known offline"
            )
    return [configs[name] for name in names or configs if name in configs]


def missing_group(source: Source, group: str, configs: Iterable[GroupConfig]) -> tuple[Problem, ...]:
    """A problem if the group is known not to exist; if it has settings that apply once it does, a notice."""
    absence = _absence(source, group)
    if absence and any(config.origin is ConfigOrigin.GROUP for config in configs):
        notice(f"{group}: {NO_SUCH_GROUP}")
        return ()
    return absence


def _absence(source: Source, group: str) -> tuple[Problem, ...]:
    read = source.describe([group], offsets=False)
    return with_close_names(source, tuple(one for one in read.problems if one.cause is Cause.ABSENT))


def parse_values(values: Iterable[str]) -> dict[str, str | None]:
    """`NAME=VALUE`, each name once. UsageError for anything else."""
    settings: dict[str, str | None] = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{text!r} is not NAME=VALUE, such as consumer.session.timeout.ms=45000")
        if name.strip() in settings:
            raise UsageError(f"{name.strip()} is given twice")
        settings[name.strip()] = value
    return settings


def check_names(names: Iterable[str], configs: Mapping[str, GroupConfig]) -> None:
    for name in names:
        if name not in configs:
            hint = did_you_mean(name, configs) or f"; there are {', '.join(configs)}"
            raise UsageError(f"{name} is not a group setting of this cluster{hint}")


def config_document(group: str, configs: Iterable[GroupConfig], problems: tuple[Problem, ...]) -> Document:
    data = [setting_data(config) for config in configs]
    table = table_of(data, "NAME", "VALUE", *OF_A_SETTING)
    data_of_group = {"group": group, "settings": data}
    return Document(command="config get", data=data_of_group, blocks=[table], errors=problems)


OF_A_SETTING = ("SOURCE", "DEFAULT", "#MINIMUM", "#MAXIMUM")


def setting_data(config: GroupConfig) -> dict[str, object]:
    return {
        **fields(config, "name", "value"),
        "source": config.origin.value,
        **fields(config, "default", "minimum", "maximum"),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsPlan:
    """The planned settings of one group; None means unset."""

    group: str
    changes: Mapping[str, str | None]
    configs: Mapping[str, GroupConfig]
    refusals: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def applicable(self) -> bool:
        return bool(self.changes) and not self.refusals and not self.problems


@dataclass(slots=True, kw_only=True)
class ConfigChange(ClusterChange[SettingsPlan]):
    did, what = "changed", "setting"
    shown_by = "config get {group}"

    command: str
    settings: GroupSettings
    now: Mapping[str, Mapping[str, GroupConfig]] = field(default_factory=dict)
    """The settings when they were read again."""

    def objections(self, plan: SettingsPlan) -> Sequence[Problem]:
        return (*plan.refusals, *plan.problems)

    @property
    def question(self) -> str:
        plans_to_apply = self.plans_to_apply
        of = plans_to_apply[0].group if len(plans_to_apply) == 1 else f"{len(plans_to_apply)} groups"
        return f"change {counted(sum(len(plan.changes) for plan in plans_to_apply), 'setting')} of {of}"

    @property
    def done(self) -> str | None:
        made = {plan.group: len(plan.changes) for plan in self.plans if self.applied(plan.group)}
        return summed(self.did, made, self.what)

    def check_again(self, *, was_asked: bool) -> None:
        plans = self.plans_to_apply
        self.now = now = self.settings.read([plan.group for plan in plans]) if plans else {}
        for plan in plans:
            for name in plan.changes:
                before, after = plan.configs[name].value, now[plan.group][name].value
                if before != after:
                    self.compared(f"{plan.group}, {name}", plan.group, before, after, was_asked=was_asked)

    def items_of(self, plan: SettingsPlan) -> Iterator[tuple[Part, ChangedItem]]:
        present = own_settings(self.now.get(plan.group, plan.configs)) or {}
        for name, value in plan.changes.items():
            yield (
                None,
                ChangedItem(
                    kind=ItemKind.SETTING, group=plan.group, name=name, before=present.get(name), after=value
                ),
            )

    def send(self) -> Iterator[Outcome]:
        changes = {plan.group: plan.changes for plan in self.plans_to_apply}
        for altered in self.settings.alter(changes, validate_only=False):
            yield {(group, None): failed for group, failed in altered.items()}

    def document(self) -> Document:
        (plan,) = self.plans
        settings = self.data_of(plan)
        return Document(
            command=self.command,
            data={"group": plan.group, "executed": self.outcome is not None, "settings": settings},
            blocks=[table_of(settings, "NAME", ("CURRENT", "before"), ("NEW", "after"), "DEFAULT")],
            errors=tuple(self.errors),
        )

    def data_of(self, plan: SettingsPlan) -> list[dict[str, object]]:
        return [
            {
                "name": name,
                "before": config.value,
                "source_before": config.origin.value,
                "after": config.default if value is None else value,
                **fields(config, "default", "minimum", "maximum"),
                "applied": self.applied(plan.group),
            }
            for name, value in plan.changes.items()
            for config in [plan.configs[name]]
        ]


def plan_config_change(
    source: Source, group: str, changes: Mapping[str, str | None], *, command: str
) -> ConfigChange:
    """Plan a change of a group's settings, validated by the cluster. Raises UsageError. Raises CommandError."""
    if not isinstance(source, LiveSource):
        raise not_live(source)
    settings = settings_of(source)
    configs = settings.read([group])
    check_names(changes, configs[group])
    change = change_of_settings(settings, {group: changes}, configs, command=command)
    (plan,) = change.plans
    for name in changes.keys() - plan.changes.keys():
        notice(
            f"{group}: {name} {'already has this value' if changes[name] is not None else 'is not set for this group'}"
        )
    listed = source.list_groups()
    listing = next((item for item in listed.items if item.id == group), None)
    if listing is not None or not listed.problems:
        note_other_types([plan], {} if listing is None else {group: listing.type})
    return change


def not_live(source: Source) -> UsageError:
    return UsageError(
        f"settings of groups can be changed only on a live cluster, not in {source.name}; "
        "name a live cluster (--bootstrap-server)"
    )


def change_of_settings(
    settings: GroupSettings,
    changes: Mapping[str, Mapping[str, str | None]],
    configs: Mapping[str, Mapping[str, GroupConfig]],
    *,
    command: str,
) -> ConfigChange:
    """The changes, by group, that have an effect, checked and validated; `configs` has their current settings."""
    plans = []
    for group in changes:
        current = configs[group]
        updates = {
            name: value for name, value in changes[group].items() if not _is_noop(current[name], value)
        }
        refusals = [
            Problem(subject=f"{group}, {name}", message=fault) for name, fault in faults(updates, current)
        ]
        plans.append(SettingsPlan(group=group, changes=updates, configs=current, refusals=tuple(refusals)))
    requested = {plan.group: plan.changes for plan in plans if plan.applicable}
    tried: dict[str, Failed | None] = {}
    for validated in settings.alter(requested, validate_only=True):
        tried |= validated
    return ConfigChange(
        command=command, plans=[_with(plan, tried.get(plan.group)) for plan in plans], settings=settings
    )


def _with(plan: SettingsPlan, failed: Failed | None) -> SettingsPlan:
    if failed is None:
        return plan
    problems = (Problem(subject=plan.group, message=failed.message),)
    return replace(plan, refusals=problems) if failed.refused else replace(plan, problems=problems)


def _is_noop(config: GroupConfig, value: str | None) -> bool:
    is_set = config.origin is ConfigOrigin.GROUP
    return not is_set if value is None else is_set and config.value == value.strip()


def note_other_types(plans: Iterable[SettingsPlan], types: Mapping[str, GroupType]) -> None:
    """Print notices of groups that do not exist (not in `found`), and of groups that ignore their new settings."""
    noted: dict[str, list[str]] = {}
    for plan in plans:
        kinds = {plan.configs[name].kind for name in plan.changes}
        kind_of = types.get(plan.group)
        if kind_of is None and kinds:
            noted.setdefault(NO_SUCH_GROUP, []).append(plan.group)
        elif kind_of not in (None, GroupType.UNKNOWN):
            for kind in sorted(kinds - {kind_of.value}):
                text = f"settings of {kind} groups have no effect on a {kind_of.value} group"
                noted.setdefault(text, []).append(plan.group)
    for text, groups in noted.items():
        notice(f"{first_names(groups, GROUPS_NAMED)}: {text}")
