"""Kohort's own request for faults on demand; its key is far above Kafka's. `event` is JSON, described in
docs/serve.md."""

from wire.messages.definition import api

FAULT_CLIENT = "kohort-fault"
"""The client id of a client that requests faults: no fault affects it, and only it sees the API listed."""
LIST, DO, CLEAR = 0, 1, 2  # operations

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
"""`rules`: the ids of rules to clear, null for all; in the response the active rules. `rule`: the added rule."""
