"""The file of `kohort serve --access` (docs/security.md). No message contains a value of `users`."""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from groups.trees import INT64, Between, Malformed, Trees, shown
from groups.yaml_files import TreeError, check_format, load_tree, read_text
from wire import acls as kafka_acls
from wire.client.security import Secret
from wire.files import MEBIBYTE, read_bounded

FORMAT_VERSION = 1  # raised only when an older Kohort would misread the file
_READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessFile:
    """The content of the file. `acls` None: everyone may do everything. `warnings`: files that others can read."""

    passwords: Mapping[str, Secret] = field(default_factory=dict)
    acls: tuple[kafka_acls.Acl, ...] | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _User:
    password: str | None = None
    password_env: str | None = None
    password_file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """ACLs on one resource, one for each operation."""

    principal: str
    operations: tuple[str, ...]
    host: str = kafka_acls.WILDCARD
    permission: str = kafka_acls.Permission.ALLOW.name
    topic: str | None = None
    group: str | None = None
    transactional_id: str | None = None
    cluster: bool = False
    pattern: str = kafka_acls.PatternType.LITERAL.name


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    kohort: Annotated[int, Between(1, INT64)]
    users: Mapping[str, _User] = field(default_factory=dict)
    acls: tuple[_Entry, ...] | None = None


_TREES = Trees(sparse=True)


def read_access_file(path: Path, environment: Mapping[str, str] = os.environ) -> AccessFile:
    """Read the file. Raises TreeError: with the line and the field of the error."""
    text = read_text(path)
    tree = load_tree(path, text)
    try:
        check_format(tree, FORMAT_VERSION, "file of users and ACLs")
        warnings = list(_warnings(path)) if tree.get("users") else []
        read: _File = _TREES.read(_File, tree)
        passwords = {}
        for name, user in read.users.items():
            try:
                passwords[name] = _password(path, user, environment, warnings)
            except Malformed as error:
                raise error.below(name).below("users") from None
        acls = None if read.acls is None else tuple(_acls(read.acls))
    except Malformed as error:
        if error.path[:1] == ("users",):
            error.message = error.message.partition(", found")[0]
        raise TreeError.at(path, text, error) from None
    return AccessFile(passwords=passwords, acls=acls, warnings=tuple(warnings))


def _warnings(path: Path) -> Iterator[str]:
    if path.stat().st_mode & _READABLE_BY_OTHERS:
        yield f"{path} holds passwords, and other users of this machine can read it: chmod 600 {path}"


def _password(path: Path, user: _User, environment: Mapping[str, str], warnings: list[str]) -> Secret:
    sources = ("password", "password_env", "password_file")
    fields = [name for name in sources if getattr(user, name) is not None]
    if len(fields) != 1:
        raise Malformed("needs exactly one of password, password_env and password_file")
    if user.password_env is not None:
        if user.password_env not in environment:
            raise Malformed("there is no such variable in the environment", "password_env")
        password = environment[user.password_env]
    elif user.password_file is not None:
        file = path.parent / user.password_file
        try:
            password = read_bounded(file, MEBIBYTE).decode().removesuffix("\n").removesuffix("\r")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "not a text file in UTF-8"
            raise Malformed(f"{file} cannot be read: {why}", "password_file") from None
        warnings += _warnings(file)
    else:
        password = user.password or ""
    if not password:
        raise Malformed("the password is empty", *fields)
    return Secret(password)


def _acls(entries: tuple[_Entry, ...]) -> Iterator[kafka_acls.Acl]:
    for number, entry in enumerate(entries):
        try:
            yield from _acls_of(entry)
        except Malformed as error:
            raise error.below(number).below("acls") from None


def _acls_of(entry: _Entry) -> Iterator[kafka_acls.Acl]:
    kind, name = _resource(entry)
    if ":" not in entry.principal or entry.principal.startswith(":"):
        why = f"expected TYPE:NAME, such as User:alice; found {shown(entry.principal)}"
        raise Malformed(why, "principal")
    pattern = _named(
        entry.pattern, (kafka_acls.PatternType.LITERAL, kafka_acls.PatternType.PREFIXED), "pattern"
    )
    if kind is kafka_acls.ResourceType.CLUSTER and pattern is not kafka_acls.PatternType.LITERAL:
        raise Malformed("the cluster takes no pattern; remove it", "pattern")
    permission = _named(
        entry.permission, (kafka_acls.Permission.ALLOW, kafka_acls.Permission.DENY), "permission"
    )
    if not entry.operations:
        raise Malformed("lists no operation", "operations")
    for number, operation in enumerate(entry.operations):
        yield kafka_acls.Acl(
            resource_type=kind,
            name=name,
            pattern=pattern,
            principal=entry.principal,
            host=entry.host,
            operation=_named(
                operation, (kafka_acls.Operation.ALL, *kafka_acls.OPERATIONS[kind]), "operations", number
            ),
            permission=permission,
        )


def _resource(entry: _Entry) -> tuple[kafka_acls.ResourceType, str]:
    names = {
        kafka_acls.ResourceType.TOPIC: entry.topic,
        kafka_acls.ResourceType.GROUP: entry.group,
        kafka_acls.ResourceType.TRANSACTIONAL_ID: entry.transactional_id,
        kafka_acls.ResourceType.CLUSTER: kafka_acls.CLUSTER_NAME if entry.cluster else None,
    }
    named = [(kind, name) for kind, name in names.items() if name is not None]
    if len(named) != 1:
        raise Malformed("needs exactly one of topic, group, transactional_id and `cluster: true`")
    if not named[0][1]:
        raise Malformed("the name is empty", named[0][0].name.lower())
    return named[0]


def _named(text: str, among: tuple[Any, ...], *path: str | int) -> Any:
    member = next((one for one in among if one.name == text.upper()), None)
    if member is None:
        names = ", ".join(one.name for one in among)
        raise Malformed(f"expected one of {names}; found {shown(text)}", *path)
    return member
