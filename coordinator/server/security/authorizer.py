"""The permissions of ACLs as Kafka's StandardAuthorizer: a DENY overrides every ALLOW and implies nothing."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from coordinator.errors import RequestRefused
from coordinator.store.data_directory import DataDirectory
from coordinator.store.directory_files import ConfigKind
from wire.acls import (
    OPERATIONS,
    WILDCARD,
    Acl,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    operation_bits,
)
from wire.errors import ErrorCode
from wire.log.errors import StorageFailed, Unusable

ANY_PRINCIPAL = "User:*"
_IMPLY_DESCRIBE = (Operation.DESCRIBE, Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER)
IMPLIED_BY = {
    Operation.DESCRIBE: frozenset(_IMPLY_DESCRIBE),
    Operation.DESCRIBE_CONFIGS: frozenset((Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)),
}  # For each operation, the operations whose ALLOW implies it


@dataclass(slots=True)
class _Entries:
    """The ACLs of one resource type, by name or prefix."""

    literal: dict[str, list[Acl]] = field(default_factory=dict)
    prefixed: dict[str, list[Acl]] = field(default_factory=dict)
    longest_prefix: int = 0

    def add(self, acl: Acl) -> None:
        if acl.pattern is PatternType.PREFIXED:
            self.longest_prefix = max(self.longest_prefix, len(acl.name))
            self.prefixed.setdefault(acl.name, []).append(acl)
        else:
            self.literal.setdefault(acl.name, []).append(acl)

    def about(self, name: str) -> Iterator[Acl]:
        yield from self.literal.get(name, ())
        if not name.startswith(WILDCARD):  # Kafka treats `*` as a literal prefix there, and skips it
            yield from self.literal.get(WILDCARD, ())
        for end in range(min(self.longest_prefix, len(name)) + 1):
            yield from self.prefixed.get(name[:end], ())


class Authorizer:
    """The ACLs, indexed by resource. They are replaced as a whole, so that other threads can read meanwhile."""

    def __init__(
        self, acls: Iterable[Acl] = (), *, super_users: Collection[str] = (), allow_if_no_acl: bool = False
    ) -> None:
        self._super_users = frozenset(super_users)
        self._allow_if_no_acl = allow_if_no_acl
        self._acls: dict[Acl, None] = {}
        self._by_type: dict[ResourceType, _Entries] = {}
        self.replace_all(acls)

    @property
    def acls(self) -> Iterable[Acl]:
        return self._acls.keys()

    def replace_all(self, acls: Iterable[Acl]) -> None:
        entries = dict.fromkeys(acls)
        by_type: dict[ResourceType, _Entries] = {}
        for acl in entries:
            by_type.setdefault(acl.resource_type, _Entries()).add(acl)
        self._acls, self._by_type = entries, by_type

    def matching(self, acl_filter: AclFilter) -> list[Acl]:
        return [acl for acl in self._acls if acl_filter.matches(acl)]

    def allows(self, principal: str, host: str, operation: Operation, kind: ResourceType, name: str) -> bool:
        """Whether `principal`, calling from `host`, may do `operation` with the resource."""
        if principal in self._super_users:
            return True
        named = allowed = False
        entries = self._by_type.get(kind)
        for acl in () if entries is None else entries.about(name):
            named = True
            if acl.principal not in (principal, ANY_PRINCIPAL) or acl.host not in (WILDCARD, host):
                continue
            if acl.permission is Permission.ALLOW:
                allowed = allowed or acl.operation in IMPLIED_BY.get(operation, (operation,)) or _is_all(acl)
            elif acl.operation is operation or _is_all(acl):
                return False
        return allowed or (self._allow_if_no_acl and not named)

    def allows_some(self, principal: str, host: str, operation: Operation, kind: ResourceType) -> bool:
        """Whether it is allowed on some resource of the type (Authorizer.authorizeByResourceType)."""
        if self.allows(principal, host, operation, kind, "hardcode"):
            return True
        mine = [
            acl
            for acl in self._acls
            if acl.resource_type is kind
            and acl.principal in (principal, ANY_PRINCIPAL)
            and acl.host in (WILDCARD, host)
            and acl.operation in (operation, Operation.ALL)
        ]
        denied = {(acl.pattern, acl.name) for acl in mine if acl.permission is Permission.DENY}
        if (PatternType.LITERAL, WILDCARD) in denied:
            return False
        allowed = {(acl.pattern, acl.name) for acl in mine if acl.permission is Permission.ALLOW}
        return (PatternType.LITERAL, WILDCARD) in allowed or any(
            not _is_dominated(pattern, name, denied) for pattern, name in allowed
        )

    def operations(self, principal: str, host: str, resource_type: ResourceType, name: str) -> int:
        """The operations that `principal` may do with the resource, as a bit field."""
        return operation_bits(
            operation
            for operation in OPERATIONS[resource_type]
            if self.allows(principal, host, operation, resource_type, name)
        )


def _is_all(acl: Acl) -> bool:
    return acl.operation is Operation.ALL


def _is_dominated(pattern: PatternType, name: str, denied: Collection[tuple[PatternType, str]]) -> bool:
    """Whether a pattern's ALLOW is overridden by a DENY of the same name or of a prefix of it."""
    if pattern is PatternType.LITERAL and (PatternType.LITERAL, name) in denied:
        return True
    return any((PatternType.PREFIXED, name[:end]) in denied for end in range(1, len(name) + 1))


CHANGE, CREATED, DELETED = "change", "created", "deleted"
ENUMS: Mapping[str, Any] = {
    "resource_type": ResourceType,
    "pattern": PatternType,
    "operation": Operation,
    "permission": Permission,
}


class StoredAcls:
    """The ACLs that clients create and delete: applied at once, stored as differences from the given ones."""

    def __init__(self, authorizer: Authorizer | None, data: DataDirectory | None) -> None:
        """Raises Unusable: the stored ACLs are invalid."""
        self._authorizer = authorizer
        self._data = data
        self._given = frozenset(() if authorizer is None else authorizer.acls)
        self.created, self.deleted = _read(data)
        """Created and deleted by clients. A deleted one is remembered in case it is given at the start."""
        if authorizer is not None:
            acls_of_file = (acl for acl in authorizer.acls if acl not in self.deleted)
            authorizer.replace_all((*acls_of_file, *self.created))

    @property
    def left_out(self) -> int:
        return len(self._given & self.deleted)

    def create(self, acls: Iterable[Acl]) -> None:
        """Add ACLs; existing ones stay. Raises RequestRefused: they cannot be stored."""
        if self._authorizer is not None:
            self._replace(self._authorizer, (*self._authorizer.acls, *acls))

    def delete(self, acls: Collection[Acl]) -> None:
        """Remove ACLs. Raises RequestRefused: that cannot be stored."""
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
    """The created ACLs, in their order, and the deleted ones. Raises Unusable."""
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

    added = [{CHANGE: CREATED, **_fields(acl)} for acl in created]
    removed = sorted(({CHANGE: DELETED, **_fields(acl)} for acl in deleted), key=lambda one: [*one.values()])
    return {str(number): fields for number, fields in enumerate(added + removed, 1)}


def _fields(acl: Acl) -> Mapping[str, str]:
    named = {name: getattr(acl, name) for name in Acl.__dataclass_fields__}
    return {name: value.name if isinstance(value, IntEnum) else value for name, value in named.items()}


def _acl(fields: Mapping[str, str]) -> Acl:
    """Raises KeyError: a field is missing, or its value is unknown."""
    values: dict[str, Any] = {name: fields[name] for name in ("name", "principal", "host")}
    return Acl(**values, **{name: kind[fields[name]] for name, kind in ENUMS.items()})
