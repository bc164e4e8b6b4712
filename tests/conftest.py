"""What the tests of every folder share."""

from hypothesis import settings

from tests.support.chance import IS_DRAWN_ANEW

pytest_plugins = ["tests.kafka.plugin", "tests.coordinator.storage.plugin"]

# How long an example takes says how busy the machine is; what must be fast is measured in benchmarks/.
settings.register_profile("kohort", deadline=None, derandomize=not IS_DRAWN_ANEW)
settings.load_profile("kohort")
