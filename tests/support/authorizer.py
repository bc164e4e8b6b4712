"""A broker with an authorizer, and entries that allow something."""

from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType

from tests.kafka.broker import Broker

AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
OPEN_AUTHORIZER = {**AUTHORIZER, "allow.everyone.if.no.acl.found": "true"}
"""With one entry about a resource, what no entry allows there is forbidden."""


def allow(
    broker: Broker, kind: ResourceType, name: str, operation: AclOperation, who: str = "User:ANONYMOUS"
) -> None:
    """Add an entry; the authorizer may know it a moment later."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    entry = AclBinding(kind, name, ResourcePatternType.LITERAL, who, "*", operation, AclPermissionType.ALLOW)
    admin.create_acls([entry])[entry].result()
