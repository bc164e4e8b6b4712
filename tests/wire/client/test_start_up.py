"""What listing groups imports: start-up is most of the time `kohort list` takes."""

import subprocess
import sys

from tests.wire.client.peer import peer
from tests.wire.client.scripted import broker
from tests.wire.client.test_client import ALL, listed, metadata

SCRIPT = """
import sys
sys.modules["hypothesis"] = None  # kio imports it where it is installed, that is in tests only
from coordinator.wire.client import Client
from coordinator.wire.security import ConnectionSettings
with Client.connect(ConnectionSettings(bootstrap_servers=(sys.argv[1],))) as client:
    assert client.list_groups().groups
print(*sys.modules)
"""

TOO_HEAVY = {"asyncio", "ssl", "hashlib", "scramp", "confluent_kafka", "kio.serial", "numpy", "logging"}


def test_no_schema_of_a_message_is_imported() -> None:
    """What a recent broker is asked for a list, Kohort writes and reads itself: kio's classes cost more to make."""
    answers = {"ListGroups": listed("g")}
    with peer(broker(answers, ALL)) as address:
        answers["Metadata"] = metadata(address)
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, address], capture_output=True, check=True, text=True
        )
    loaded = done.stdout.split()
    assert not set(loaded) & TOO_HEAVY
    assert "wire.client.client" in loaded
    assert not [
        name for name in loaded if name.startswith("kio.schema.") and name.endswith(("request", "response"))
    ]
