"""Kohort's own request for faults on demand; no Kafka has it.

Its key is far above Kafka's. `event` is a fault event as JSON, by the words of docs/serve.md.
"""

from wire.messages.definition import api

FAULT_CLIENT = "kohort-fault"
"""The client id of who asks for faults: it meets none, and is the only one to whom the API is listed."""
LIST, DO, CLEAR = 0, 1, 2
"""Operations."""

KOHORT_FAULT = api("""
    KohortFault 31010 0
    request
        operation int8
        event string null default=null
        rules int32[] null default=null
    response
        errorCode int16
        errorMessage string null default=null
        rule int32 default=-1
        outcome string null default=null
        rules {}[]
            id int32
            event string
            applied int32
            timesLeft int32 default=-1
            leftMs int64 default=-1
""")
"""`rules`: which are to be cleared, null for all; in the answer those in force. `rule`: the one that was added."""
