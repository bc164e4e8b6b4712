"""DeleteGroups: groups without members go, with everything that they have committed."""

from collections.abc import Sequence

from wire.client.answers import Failure, refusal
from wire.client.connection import Connection
from wire.client.deadline import Deadline
from wire.client.steps import Steps
from wire.messages.apis import DELETE_GROUPS


def delete_groups(
    connection: Connection, groups: Sequence[str], deadline: Deadline
) -> Steps[dict[str, bool | Failure]]:
    """Ask one coordinator to delete groups of any type; True for each that is gone."""
    yield from connection.open(deadline)
    schema = DELETE_GROUPS.request_schema(connection.version(DELETE_GROUPS))
    request = schema.DeleteGroupsRequest(groups_names=tuple(groups))
    (response,) = yield from connection.exchange(DELETE_GROUPS, [request], deadline)
    return {
        result.group_id: refusal(result.error_code) if result.error_code else True
        for result in response.results
    }
