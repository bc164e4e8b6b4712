"""The ACLs that clients create and delete: what an authorizer goes by at once, and what a data directory keeps.

Kept is how the entries differ from those that were given at the start: a given entry counts from its file on until a
client deletes it, and then until a client creates it again, however often the server starts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import IntEnum

from coordinator.errors import RequestRefused
from coordinator.server.security.authorizer import Authorizer
from coordinator.store.data_directory import DataDirectory
from coordinator.store.directory_files import Configured
from wire.acls import Acl, Operation, PatternType, Permission, ResourceType
from wire.errors import ErrorCode
from wire.log.errors import StorageFailed, Unusable

CHANGE, CREATED, DELETED = "change", "created", "deleted"


class KeptAcls:
    """See the module. Without an authorizer what is kept stays so, and has no effect."""

    def __init__(self, authorizer: Authorizer | None, data: DataDirectory | None) -> None:
        """:raises Unusable: what is kept are no ACLs"""
        self._authorizer = authorizer
        self._data = data
        self._given = frozenset(() if authorizer is None else authorizer.acls)
        self.created, self.deleted = _read(data)
        """By clients, at any time. A deleted one is there for the case that it is given."""
        if authorizer is not None:
            given = (acl for acl in authorizer.acls if acl not in self.deleted)
            authorizer.become((*given, *self.created))

    @property
    def left_out(self) -> int:
        """How many of those that were given do not count."""
        return len(self._given & self.deleted)

    def create(self, acls: Iterable[Acl]) -> None:
        """Add entries; one that is there already stays. :raises RequestRefused: they cannot be kept"""
        if self._authorizer is not None:
            self._become(self._authorizer, (*self._authorizer.acls, *acls))

    def delete(self, acls: Collection[Acl]) -> None:
        """Take entries away. :raises RequestRefused: that cannot be kept"""
        if self._authorizer is not None:
            gone = frozenset(acls)
            self._become(self._authorizer, [acl for acl in self._authorizer.acls if acl not in gone])

    def _become(self, authorizer: Authorizer, acls: Iterable[Acl]) -> None:
        acls = dict.fromkeys(acls)
        created = {acl: None for acl in acls if acl not in self._given}
        deleted = frozenset(acl for acl in self._given | self.deleted if acl not in acls)
        if self._data is not None:
            try:
                self._data.set_configs(Configured.ACL, _written(created, deleted))
            except StorageFailed as error:
                raise RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        self.created, self.deleted = created, deleted
        authorizer.become(acls)


def _read(data: DataDirectory | None) -> tuple[Mapping[Acl, None], frozenset[Acl]]:
    """Those that were created, in their order, and those that were deleted. :raises Unusable:"""
    if data is None:
        return {}, frozenset()
    try:
        kept = [(fields[CHANGE], _acl(fields)) for fields in data.configs[Configured.ACL].values()]
        if unknown := {change for change, _ in kept} - {CREATED, DELETED}:
            raise ValueError(f"{min(unknown)!r} is no change")
    except (KeyError, ValueError) as error:
        raise Unusable(f"{data.path / Configured.ACL.file}: {error}") from None
    created = {acl: None for change, acl in kept if change == CREATED}
    return created, frozenset(acl for change, acl in kept if change == DELETED)


def _written(created: Iterable[Acl], deleted: Collection[Acl]) -> Mapping[str, Mapping[str, str]]:
    """By number, as ACLs have no names."""

    def changes() -> Iterator[Mapping[str, str]]:
        yield from ({CHANGE: CREATED, **_fields(acl)} for acl in created)
        yield from sorted(
            ({CHANGE: DELETED, **_fields(acl)} for acl in deleted), key=lambda one: [*one.values()]
        )

    return {str(number): fields for number, fields in enumerate(changes(), 1)}


def _fields(acl: Acl) -> Mapping[str, str]:
    named = {name: getattr(acl, name) for name in Acl.__dataclass_fields__}
    return {name: value.name if isinstance(value, IntEnum) else value for name, value in named.items()}


def _acl(fields: Mapping[str, str]) -> Acl:
    """:raises KeyError: something is missing, or has no such name"""
    return Acl(
        resource_type=ResourceType[fields["resource_type"]],
        name=fields["name"],
        pattern=PatternType[fields["pattern"]],
        principal=fields["principal"],
        host=fields["host"],
        operation=Operation[fields["operation"]],
        permission=Permission[fields["permission"]],
    )
