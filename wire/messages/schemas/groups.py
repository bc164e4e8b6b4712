"""Groups of any type: finding, listing and deleting them."""

from wire.messages.definition import api

FIND_COORDINATOR = api("""
    FindCoordinator 10 0-6 flexible=3
    request
        key string 0-3
        keyType int8 1+ default=0
        coordinatorKeys string[] 4+
    response
        throttleTimeMs int32 1+ default=0
        errorCode int16 0-3
        errorMessage string 1-3 null
        nodeId int32 0-3
        host string 0-3
        port int32 0-3
        coordinators {}[] 4+
            key string
            nodeId int32
            host string
            port int32
            errorCode int16
            errorMessage string null
""")

LIST_GROUPS = api("""
    ListGroups 16 0-5 flexible=3
    request
        statesFilter string[] 4+
        typesFilter string[] 5+
    response
        throttleTimeMs int32 1+ default=0
        errorCode int16
        groups {}[]
            groupId string
            protocolType string
            groupState string 4+
            groupType string 5+
""")

DELETE_GROUPS = api("""
    DeleteGroups 42 0-3 flexible=2 since=1.1
    request
        groupsNames string[]
    response
        throttleTimeMs int32 default=0
        results {}[]
            groupId string
            errorCode int16
            errorMessage string 3+ null default=null
""")
