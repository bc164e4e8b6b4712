"""Groups without partitions in `kohort describe`: workers of Kafka Connect, and groups that elect a leader."""

from collections.abc import Sequence
from dataclasses import dataclass

from cli.render.cells import Cell, Duration, partitions_text
from cli.render.document import fields
from cli.sources.source import Source
from groups.connect import CONNECT, ConnectMember, Work
from groups.election import SCHEMA_REGISTRY, ElectionCandidate
from groups.model import Group, Member
from groups.trees import Trees

_TREES = Trees()
_NO_WORKER, _NO_CANDIDATE = ConnectMember(), ElectionCandidate()


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleColumns:
    """The additional columns of a table of members, empty if all groups share partitions."""

    headings: tuple[str, ...]
    of_connect: bool
    verbose: bool

    @classmethod
    def of(cls, groups: Sequence[Group], *, verbose: bool) -> "RoleColumns":
        others = [group for group in groups if group.members and not group.shares_partitions]
        of_connect = any(group.protocol_type == CONNECT for group in others)
        of_candidates = any(group.protocol_type == SCHEMA_REGISTRY for group in others)
        headings = ["LEADS"] if others else []
        headings += ["URL"] if of_connect or of_candidates else []
        headings += ["CONNECTORS", "CONNECTOR-TASKS"] if of_connect else []
        if of_connect and verbose:
            headings += ["#CONFIG-OFFSET", "LEADER-URL", "#LEADER-OFFSET", "REVOKED", "DELAY", "ERROR"]
        return cls(headings=tuple(headings), of_connect=of_connect, verbose=verbose)

    def cells(self, group: Group, member: Member) -> Sequence[Cell]:
        if not self.headings:
            return ()
        leader = None if group.shares_partitions else group.elected
        cells: list[Cell] = ["leader" if member.id == leader else None]
        worker = member.connect or _NO_WORKER
        cells += [worker.url or (member.candidate or _NO_CANDIDATE).url] if "URL" in self.headings else []
        if self.of_connect:
            runs = worker.runs or Work()
            cells += [",".join(runs.connectors) or None, partitions_text(runs.tasks)]
        if self.of_connect and self.verbose:
            delay = None if worker.delay_ms is None else Duration(worker.delay_ms)
            cells += [worker.config_offset, worker.leader_url, worker.leader_offset]
            cells += [work_text(worker.revoked), delay, worker.error]
        return cells


def work_text(work: Work | None) -> str | None:
    """`files;files:0,1`: connectors, then tasks by connector; None for none or unknown."""
    return (
        ";".join((*work.connectors, *filter(None, [partitions_text(work.tasks)]))) or None if work else None
    )


def roles_data(group: Group, member: Member) -> dict[str, object]:
    """Additional fields of a member of Connect's groups and of Schema Registry's, in JSON documents."""
    if group.protocol_type == CONNECT:
        return {"connect": member.connect and _TREES.write(ConnectMember, member.connect)}
    if group.protocol_type == SCHEMA_REGISTRY:
        known = member.candidate or _NO_CANDIDATE
        return {"candidate": fields(known, "url", "eligible", "elected", "error")}
    return {}


def with_unknown_leaders(source: Source, groups: Sequence[Group]) -> tuple[Group, ...]:
    """The groups; those without partitions with their leader, which no answer of a broker contains."""
    missing = [group for group in groups if not group.shares_partitions and group.elected is None]
    led = {group.id: group for group in source.with_leaders(missing)} if missing else {}
    return tuple(led.get(group.id, group) for group in groups)


def without_partitions(groups: Sequence[Group]) -> tuple[str, ...]:
    """A remark for each group that has members and nothing to show in a table of partitions."""
    return tuple(
        f"{group.id}: its members share no partitions (protocol type {group.protocol_type}); --members shows them"
        for group in groups
        if group.members and not group.shares_partitions and not group.offsets
    )


def unknown_leaders(groups: Sequence[Group]) -> tuple[str, ...]:
    """A remark for each group of which the leader was requested and is not known."""
    return tuple(
        f"{group.id}: the leader is not known: {group.leader_problem}"
        for group in groups
        if not group.shares_partitions and group.leader_problem
    )
