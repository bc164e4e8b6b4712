"""The base of every source of groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from groups.listing import GroupFilter, GroupListing, Problem

if TYPE_CHECKING:
    from groups.lag import NextRecords
    from groups.model import Cluster, Group, OpenTransaction, Topic
    from groups.settings import GroupConfig
    from migration.access import Access


T = TypeVar("T", covariant=True)


@dataclass(frozen=True, slots=True)
class ReadResult(Generic[T]):
    """The items that could be read, and the problems with the rest."""

    items: tuple[T, ...]
    problems: tuple[Problem, ...] = ()


class Notices:
    """Notices of a source, stored until they are taken, because sources never print."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._texts = list(texts)

    def add(self, text: str) -> None:
        self._texts.append(text)

    def take(self) -> tuple[str, ...]:
        texts, self._texts = tuple(self._texts), []
        return texts


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRecords:
    """The first records by (topic, partition) and requested offset; `remark`: why the source has none."""

    records: NextRecords
    problems: tuple[Problem, ...] = ()
    remark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizedOperations:
    """Operations of ACLs by group, with Kafka's names; a group whose operations are not known is missing."""

    by_group: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsOfGroups:
    """Settings by group and name; groups whose settings are not known are missing, with a problem if they exist."""

    by_group: Mapping[str, Mapping[str, GroupConfig]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTransactions:
    """Open transactions by (topic, partition); a partition whose transactions are not known is missing."""

    by_partition: Mapping[tuple[str, int], tuple[OpenTransaction, ...]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


GroupPlaces: TypeAlias = Mapping[str, Collection[tuple[str, int]]]  # (topic, partition) by group


class Source(ABC):
    """A source of groups. Methods raise only if nothing can be read; by default, nothing more is known."""

    name: str  # The name for messages: the bootstrap servers, or the file
    why_no_records: str  # Why lag times are not known, if the source contains no records
    is_followed = False
    """Whether groups are described again and again. A live cluster then remembers the types of groups, for which all
    groups are listed, and for a minute the facts about the cluster, which take a request for each broker."""

    def __init__(self, notices: Iterable[str] = ()) -> None:
        self.notices = Notices(notices)

    @abstractmethod
    def cluster(self) -> Cluster:
        """The known facts about the cluster itself."""

    @abstractmethod
    def list_groups(self) -> ReadResult[GroupListing]:
        """All groups, by id."""

    def select_groups(self, query: GroupFilter, /, *, described: bool) -> ReadResult[GroupListing]:  # noqa: ARG002  (others read less)
        """The groups that a filter selects, by id; without `described`, assignors and member counts may be missing."""
        listed = self.list_groups()
        problems = (
            problem for problem in listed.problems if problem.group is None or query.may_mean(problem.group)
        )
        return ReadResult(tuple(filter(query.passes, listed.items)), tuple(problems))

    @abstractmethod
    def describe(self, groups: Sequence[str], *, offsets: bool) -> ReadResult[Group]:
        """The named groups, in the given order; with committed offsets if requested."""

    def describe_listed(self, listed: Sequence[GroupListing], *, offsets: bool) -> ReadResult[Group]:
        """`describe` of groups that were just listed: a live cluster is not asked for their types again."""
        return self.describe([group.id for group in listed], offsets=offsets)

    def with_pending_offsets(
        self, groups: Sequence[Group], _: GroupPlaces | None = None, /
    ) -> tuple[Group, ...]:
        """Described groups with offsets in open transactions, also in places where nothing was committed before."""
        return tuple(groups)

    def with_leaders(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        """Described groups; classic ones with their leaders (a live source reads `__consumer_offsets`), or why not."""
        return tuple(groups)

    def with_topology_nodes(self, groups: Sequence[Group]) -> ReadResult[Group]:
        """Described groups; streams groups with the nodes of their topologies, if brokers store these."""
        return ReadResult(tuple(groups))

    def with_commit_times(self, groups: Sequence[Group]) -> ReadResult[Group]:
        """Described groups with known times of their commits (a live source reads `__consumer_offsets`)."""
        return ReadResult(tuple(groups))

    def with_last_use(self, groups: Sequence[Group]) -> ReadResult[Group]:
        """Like `with_commit_times`, and with the times at which the last members left (`Group.emptied_ms`)."""
        return ReadResult(tuple(groups))

    def next_records(self, _offsets: Mapping[tuple[str, int], Collection[int]], /) -> FoundRecords:
        """The first record that can be read at or after each of the offsets of each (topic, partition)."""
        return FoundRecords(records={}, remark=f"lag time is not known: {self.why_no_records}")

    def open_transactions(self, _places: Collection[tuple[str, int]], /) -> OpenTransactions:
        return OpenTransactions()

    def topics(
        self,
        names: Collection[str] | None,
        *,
        end_offsets: bool,
        start_offsets: bool = False,
        stable_offsets: bool = False,
    ) -> ReadResult[Topic]:
        """The named topics that exist, or all, by name, with the requested offsets of their logs as far as known."""
        # End offsets are read last, so that none precedes the start or last stable offset shown with it.
        flags = {"start_offsets": start_offsets, "stable_offsets": stable_offsets, "end_offsets": end_offsets}
        return self._topics(names, [name for name, is_requested in flags.items() if is_requested])

    @abstractmethod
    def _topics(self, names: Collection[str] | None, requested: Sequence[str]) -> ReadResult[Topic]:
        """`topics`, with the names of the requested offsets."""

    def group_settings(self, _groups: Sequence[str], /) -> SettingsOfGroups:
        """Settings by group and name (`consumer.session.timeout.ms`), with the brokers' settings if they are known."""
        return SettingsOfGroups()

    def authorized_operations(self, _groups: Sequence[Group], /) -> AuthorizedOperations:
        """The operations that this user may perform on each of the described groups."""
        return AuthorizedOperations()

    def access(self) -> Access | None:
        """The ACLs of the cluster's authorizer; None if the source has no authorizer."""
        return None

    def close(self) -> None:  # noqa: B027  (most sources hold none)
        """Close the connections, if there are any."""
