"""The embedded protocol of Kafka Connect's workers inside JoinGroup and SyncGroup: version 0 is ConnectProtocol, 1 and
2 are IncrementalCooperativeConnectProtocol (`compatible` and `sessioned`), which have the same fields."""

from wire.messages.definition import message

WORKER_STATE = message("""
    ConnectWorkerState newest=2 flexible=never
    fields
        url string
        configOffset int64
        allocation bytes 1+ null default=null
""")

WORKER_ASSIGNMENT = message("""
    ConnectAssignment newest=2 flexible=never
    fields
        error int16
        leader string
        leaderUrl string
        configOffset int64
        assignment {}[] null=1+
            connector string
            tasks int32[]
        revoked assignment[] 1+ null default=null
        delay int32 1+ default=0
""")
