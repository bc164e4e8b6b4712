"""The commands that plan a group and play a seed again on one machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from groups.model import Group
from migration.client_config import ClientConfig, configs_of_group
from migration.clients import DeclaredClients, unknown_members
from migration.commands import plan_into_file, rehearse_seed
from migration.plan import DEFAULT_BOUNCE_S
from pipeline.audit.judge import AuditSettings


def replay_commands(
    group: Group, planned: AuditSettings, source: str, seed: int, settings: Mapping[str, str]
) -> list[str]:
    """The commands for a shell. They contain only the group's clients: `kohort plan` refuses others."""
    strangers = set(unknown_members(group, planned.declared))
    options = ["--to", planned.destinations[0].value]
    if planned.declared.everybody is not None:
        options += ["--client", _client(planned.declared.everybody)]
    for member, client in planned.declared.single.items():
        if member not in strangers:
            options += ["--client", f"{member}={_client(client)}"]
    configs = list(_config_options(configs_of(group, planned.configs)))
    options += configs
    for regex in planned.regexes:
        options += ["--regex", regex]
    if planned.concurrency != 1:
        options += ["--concurrency", str(planned.concurrency)]
    if planned.bounce_s != DEFAULT_BOUNCE_S:
        options += ["--bounce-seconds", str(planned.bounce_s)]
    return [
        plan_into_file(group.id, [*options, "--snapshot", source]),
        rehearse_seed(seed, ["--snapshot", source, *configs], settings),
    ]


def configs_of(group: Group, configs: Sequence[ClientConfig]) -> tuple[ClientConfig, ...]:
    """The files of this group's members."""
    named = DeclaredClients(single={each.member: ("", None) for each in configs if each.member is not None})
    strangers = set(unknown_members(group, named))
    return tuple(each for each in configs_of_group(configs, group.id) if each.member not in strangers)


def _client(client: tuple[str, str | None]) -> str:
    return ":".join(filter(None, client))


def _config_options(configs: Sequence[ClientConfig]) -> Iterator[str]:
    for config in configs:
        owner = config.library if config.is_for_library else config.member
        yield "--client-config"
        yield config.name if owner is None else f"{owner}={config.name}"
