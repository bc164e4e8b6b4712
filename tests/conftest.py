"""What the tests of every folder share."""

pytest_plugins = ["tests.kafka.plugin", "tests.coordinator.storage.plugin"]
