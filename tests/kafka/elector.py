"""An instance of a service that elects one of its instances, as Schema Registry does, on the group API of kafka-python:
Karapace elects with it, too. Its arguments are the brokers, the group, its host, and `true` if it may be elected. It
prints a line for each election, its id and who was elected, until it is killed."""

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from kafka.coordinator.base import BaseCoordinator
from kafka.net.compat import KafkaNetClient

QUICK = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 300, "retry_backoff_ms": 50}


class Instance(BaseCoordinator):  # type: ignore[misc]
    """The leader of the group elects the first of the eligible ones, by their hosts."""

    def __init__(self, bootstrap: str, group: str, host: str, eligible: str) -> None:
        address = {"host": host, "port": 8081, "scheme": "http"}
        self._identity = {"version": 1, **address, "master_eligibility": json.loads(eligible)}
        client = KafkaNetClient(bootstrap_servers=bootstrap, client_id=host)
        client._manager._net.start()
        client._manager.bootstrap(10_000)
        super().__init__(client, group_id=group, api_version=client._manager.broker_version, **QUICK)

    def protocol_type(self) -> str:
        return "sr"

    def group_protocols(self) -> Sequence[tuple[str, bytes]]:
        return [("v0", json.dumps(self._identity).encode())]

    def _perform_assignment(self, leader_id: str, protocol: str, members: Sequence[Any]) -> dict[str, bytes]:
        identities = {member.member_id: json.loads(bytes(member.metadata)) for member in members}
        eligible = [member for member, identity in identities.items() if identity["master_eligibility"]]
        elected = min(eligible, key=lambda member: str(identities[member]["host"]))
        outcome = {"version": 1, "error": 0, "master": elected, "master_identity": identities[elected]}
        return dict.fromkeys(identities, json.dumps(outcome).encode())

    async def _on_join_complete_async(
        self, generation: int, member_id: str, protocol: str, member_assignment_bytes: bytes
    ) -> None:
        print(member_id, json.loads(bytes(member_assignment_bytes))["master"], flush=True)


def main() -> None:
    instance = Instance(*sys.argv[1:])
    while True:
        instance.ensure_active_group()
        instance.poll_heartbeat()
        time.sleep(0.05)


if __name__ == "__main__":
    main()
