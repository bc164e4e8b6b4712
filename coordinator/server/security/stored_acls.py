"""The ACLs that clients create and delete: applied to the authorizer at once, and stored in the data directory.

Only the differences from the ACLs given at the start are stored: a given ACL is in effect until a client deletes it,
and again once a client creates it again. Restarts do not change this.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import IntEnum

from coordinator.errors import RequestRefused
from coordinator.server.security.authorizer import Authorizer
from coordinator.store.data_directory import DataDirectory
from coordinator.store.directory_files import ConfigKind
from wire.acls import Acl, Operation, PatternType, Permission, ResourceType
from wire.errors import ErrorCode
from wire.log.errors import StorageFailed, Unusable

CHANGE, CREATED, DELETED = "change", "created", "deleted"


class StoredAcls:
    """See the module. Without an authorizer stored ACLs stay unchanged and have no effect."""

    def __init__(self, authorizer: Authorizer | None, data: DataDirectory | None) -> None:
        """:raises Unusable: the stored ACLs are invalid"""
        self._authorizer = authorizer
        self._data = data
        self._given = frozenset(() if authorizer is None else authorizer.acls)
        self.created, self.deleted = _read(data)
        """Created and deleted by clients. A deleted one is remembered in case it is given at the start."""
        if authorizer is not None:
            given = (acl for acl in authorizer.acls if acl not in self.deleted)
            authorizer.replace_all((*given, *self.created))

    @property
    def left_out(self) -> int:
        """How many of the given ACLs are not in effect."""
        return len(self._given & self.deleted)

    def create(self, acls: Iterable[Acl]) -> None:
        """Add ACLs; existing ones stay. :raises RequestRefused: they cannot be stored"""
        if self._authorizer is not None:
            self._replace(self._authorizer, (*self._authorizer.acls, *acls))

    def delete(self, acls: Collection[Acl]) -> None:
        """Remove ACLs. :raises RequestRefused: that cannot be stored"""
        if self._authorizer is not None:
            gone = frozenset(acls)
            self._replace(self._authorizer, [acl for acl in self._authorizer.acls if acl not in gone])

    def _replace(self, authorizer: Authorizer, acls: Iterable[Acl]) -> None:
        acls = dict.fromkeys(acls)
        created = {acl: None for acl in acls if acl not in self._given}
        deleted = frozenset(acl for acl in self._given | self.deleted if acl not in acls)
        if self._data is not None:
            try:
                self._data.set_configs(ConfigKind.ACL, _written(created, deleted))
            except StorageFailed as error:
                raise RequestRefused(ErrorCode.KAFKA_STORAGE_ERROR, str(error)) from error
        self.created, self.deleted = created, deleted
        authorizer.replace_all(acls)


def _read(data: DataDirectory | None) -> tuple[Mapping[Acl, None], frozenset[Acl]]:
    """The created ACLs, in their order, and the deleted ones. :raises Unusable:"""
    if data is None:
        return {}, frozenset()
    try:
        kept = [(fields[CHANGE], _acl(fields)) for fields in data.configs[ConfigKind.ACL].values()]
        if unknown := {change for change, _ in kept} - {CREATED, DELETED}:
            raise ValueError(f"{min(unknown)!r} is not a change")
    except (KeyError, ValueError) as error:
        raise Unusable(f"{data.path / ConfigKind.ACL.file}: {error}") from None
    created = {acl: None for change, acl in kept if change == CREATED}
    return created, frozenset(acl for change, acl in kept if change == DELETED)


def _written(created: Iterable[Acl], deleted: Collection[Acl]) -> Mapping[str, Mapping[str, str]]:
    """The changes as stored: by number, as ACLs have no names."""

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
    """:raises KeyError: a field is missing, or its value is unknown"""
    return Acl(
        resource_type=ResourceType[fields["resource_type"]],
        name=fields["name"],
        pattern=PatternType[fields["pattern"]],
        principal=fields["principal"],
        host=fields["host"],
        operation=Operation[fields["operation"]],
        permission=Permission[fields["permission"]],
    )
