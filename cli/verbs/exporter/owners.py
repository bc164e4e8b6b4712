"""The label of a partition's owner: `--owner`. Every value makes new series, so their number is bounded."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from cli.output import notice
from cli.verbs.exporter.options import OwnerName
from groups.lag import PartitionLag
from groups.model import Member

OTHER = "other"  # The value for the owners beyond the limit


@dataclass(slots=True, kw_only=True)
class Owners:
    """The names of owners in a cluster, from poll to poll: one that is shown remains so while it owns a partition."""

    kind: OwnerName
    limit: int
    report: Callable[[str], object] = notice
    _shown: set[str] = field(default_factory=set)
    _is_reported: bool = False

    def take(self, rows: Iterable[PartitionLag]) -> None:
        """Choose the names for the rows of a poll: those shown before, then the first by name, up to the limit."""
        names = {name for row in rows if (name := self._name(row.member)) is not None}
        self._shown &= names
        new = sorted(names - self._shown)
        room = self.limit - len(self._shown)
        self._shown.update(new[:room])
        if len(new) > room and not self._is_reported:
            self._is_reported = True
            self.report(
                f"there are {len(names):,} owners of partitions: the label owner of {len(new) - room:,} of them is "
                f"{OTHER} (--owner-limit {self.limit})"
            )

    def of(self, row: PartitionLag) -> str | None:
        """The value of the label; None: the partition has no owner, or its name is not known."""
        name = self._name(row.member)
        return name if name is None or name in self._shown else OTHER

    def _name(self, member: Member | None) -> str | None:
        if member is None:
            return None
        return (member.client.id if self.kind is OwnerName.CLIENT_ID else member.client.address) or None
