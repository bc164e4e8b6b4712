"""Make the broker's group coordinator ready, which it is only once somebody asks for it."""

from kio.schema.errors import ErrorCode
from kio.schema.find_coordinator.v4.request import FindCoordinatorRequest
from kio.schema.find_coordinator.v4.response import FindCoordinatorResponse
from kio.static.primitive import i8

from tests.kafka.broker import Broker
from tests.kafka.wait import wait_until
from tests.kafka.wire import ask

GROUP_KEY = i8(0)


def wait_for_coordinator(broker: Broker) -> None:
    """Have `__consumer_offsets` made and return when groups have a coordinator: clients then join at once."""
    request = FindCoordinatorRequest(key_type=GROUP_KEY, coordinator_keys=("any",))

    def found() -> bool:
        (one,) = ask(broker.port, request, FindCoordinatorResponse).coordinators
        return one.error_code is ErrorCode.none

    wait_until(found, "the group coordinator is there")
