"""Types of the messages of `faults.py`. Written by tests/wire/messages/message_types.py."""

from collections.abc import Collection
from typing import Final, NotRequired, TypedDict

from wire.messages.definition import Api

FAULT_CLIENT: Final = "kohort-fault"
LIST: Final = 0
DO: Final = 1
CLEAR: Final = 2

class KohortFaultRequest:
    operation: int
    event: str | None
    rules: tuple[int, ...] | None

class KohortFaultRequestFields(TypedDict):
    operation: int
    event: NotRequired[str | None]
    rules: NotRequired[Collection[int] | None]

class KohortFaultResponseRule:
    id: int
    event: str
    applied: int
    times_left: int
    left_ms: int

class KohortFaultResponse:
    error_code: int
    error_message: str | None
    rule: int
    outcome: str | None
    rules: tuple[KohortFaultResponseRule, ...]

class KohortFaultResponseRuleFields(TypedDict):
    id: int
    event: str
    applied: int
    times_left: NotRequired[int]
    left_ms: NotRequired[int]

class KohortFaultResponseFields(TypedDict):
    error_code: int
    error_message: NotRequired[str | None]
    rule: NotRequired[int]
    outcome: NotRequired[str | None]
    rules: Collection[KohortFaultResponseRuleFields]

KOHORT_FAULT: Final[
    Api[KohortFaultRequest, KohortFaultResponse, KohortFaultRequestFields, KohortFaultResponseFields]
]
