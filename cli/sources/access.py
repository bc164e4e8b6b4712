"""What a live cluster's authorizer says of topics and groups.

Over the wire client: confluent-kafka's AdminClient 2.16.1 passes over the error of the answer, so that a cluster
without an authorizer, one that refuses to tell, and one without entries look alike.
"""

from __future__ import annotations

from migration.access import Access, Entry, Kind
from wire.client.client import Client
from wire.client.errors import KafkaError, WireError
from wire.client.settings import AclEntry, AclPattern, AclResource
from wire.errors import ErrorCode

_KINDS = {AclResource.TOPIC: Kind.TOPIC, AclResource.GROUP: Kind.GROUP}
_EVERY_HOST = "*"


def read_access(client: Client) -> Access:
    """All entries of topics and groups; why they cannot be read where that is so."""
    entries: list[Entry] = []
    for asked, kind in _KINDS.items():
        try:
            found = client.describe_acls(asked)
        except KafkaError as error:
            if error.code == ErrorCode.SECURITY_DISABLED:
                return Access(is_open=True)
            return Access(problem=str(error))
        except WireError as error:
            return Access(problem=str(error))
        entries += [_entry(kind, each) for each in found if _is_certain(each)]
    return Access(entries=tuple(entries))


def _is_certain(entry: AclEntry) -> bool:
    """Where the members run is not known: an ALLOW from some hosts only is none, a DENY is one."""
    return not entry.allows or (entry.host == _EVERY_HOST and entry.pattern is not AclPattern.UNKNOWN)


def _entry(kind: Kind, entry: AclEntry) -> Entry:
    return Entry(
        kind=kind,
        name=entry.resource_name,
        is_prefix=entry.pattern is AclPattern.PREFIXED,
        principal=entry.principal,
        operation=entry.operation,
        allows=entry.allows,
    )
