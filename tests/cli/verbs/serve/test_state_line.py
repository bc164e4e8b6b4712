"""`kill -USR1` of `kohort serve`: a line of its state."""

from __future__ import annotations

from tests.cli.served_data import serving
from tests.conformance.cluster import Cluster


def test_a_signal_prints_the_state_in_a_line() -> None:
    with serving(None, "--topic", "orders:3") as served:

        def reported() -> dict[str, str]:
            line = served.state_line().strip()
            assert line.startswith("kohort: brokers=")
            return dict(word.split("=") for word in line.removeprefix("kohort: ").split())

        assert (
            reported().items() >= {"brokers": "1/1", "groups": "0", "offsets": "0", "partitions": "3"}.items()
        )

        async def ask(client: Cluster) -> None:
            before = reported()
            committed = {"partition_index": 0, "committed_offset": 7, "committed_metadata": ""}
            answer = await client.ask(
                "OffsetCommit", 8, group_id="g", generation_id_or_member_epoch=-1, member_id="",
                group_instance_id=None, topics=[{"name": "orders", "partitions": [committed]}],
            )  # fmt: skip
            assert answer["topics"][0]["partitions"][0]["error_code"] == 0
            after = reported()
            assert (after["groups"], after["classic.Empty"], after["offsets"]) == ("1", "1", "1")
            assert int(after["requests"]) == int(before["requests"]) + 1
            assert after["connections"] == "1"

        served.ask(ask)
        assert served.stop() == 0
