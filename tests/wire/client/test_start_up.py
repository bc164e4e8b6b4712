"""What listing groups imports: start-up is most of the time `kohort list` takes."""

import subprocess
import sys

from tests.wire.client.peer import peer
from tests.wire.client.scripted import broker
from tests.wire.client.test_client import ALL, listed, metadata

SCRIPT = """
import sys
from wire.client.cluster import KafkaClient
from wire.client.groups import list_groups
from wire.client.security import ConnectionSettings
with KafkaClient(ConnectionSettings(bootstrap_servers=(sys.argv[1],))) as client:
    assert list_groups(client).groups
print(*sys.modules)
"""

TOO_HEAVY = {"asyncio", "ssl", "hashlib", "scramp", "confluent_kafka", "kio", "numpy", "logging"}


def test_listing_groups_imports_nothing_heavy() -> None:
    answers = {"ListGroups": listed("g")}
    with peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(address)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, address], capture_output=True, check=True, text=True
        )
    loaded = done.stdout.split()
    assert not set(loaded) & TOO_HEAVY
    assert "wire.client.cluster" in loaded
