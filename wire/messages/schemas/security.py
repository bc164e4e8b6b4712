"""Logging in, and access control lists."""

from wire.messages.definition import api

SASL_HANDSHAKE = api("""
    SaslHandshake 17 0-1 flexible=never sent=1 since=1.0
    request
        mechanism string
    response
        errorCode int16
        mechanisms string[]
""")

SASL_AUTHENTICATE = api("""
    SaslAuthenticate 36 0-2 flexible=2 since=1.0
    request
        authBytes bytes
    response
        errorCode int16
        errorMessage string null
        authBytes bytes
        sessionLifetimeMs int64 1+ default=0
""")

DESCRIBE_ACLS = api("""
    DescribeAcls 29 1-3 flexible=2 since=2.0
    request
        resourceTypeFilter int8
        resourceNameFilter string null
        patternTypeFilter int8 default=3
        principalFilter string null
        hostFilter string null
        operation int8
        permissionType int8
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null
        resources {}[]
            resourceType int8
            resourceName string
            patternType int8 default=3
            acls {}[]
                principal string
                host string
                operation int8
                permissionType int8
""")

CREATE_ACLS = api("""
    CreateAcls 30 1-3 flexible=2 since=2.0
    request
        creations {}[]
            resourceType int8
            resourceName string
            resourcePatternType int8 default=3
            principal string
            host string
            operation int8
            permissionType int8
    response
        throttleTimeMs int32 default=0
        results {}[]
            errorCode int16
            errorMessage string null
""")

DELETE_ACLS = api("""
    DeleteAcls 31 1-3 flexible=2 since=2.0
    request
        filters {}[]
            resourceTypeFilter int8
            resourceNameFilter string null
            patternTypeFilter int8 default=3
            principalFilter string null
            hostFilter string null
            operation int8
            permissionType int8
    response
        throttleTimeMs int32 default=0
        filterResults {}[]
            errorCode int16
            errorMessage string null
            matchingAcls {}[]
                errorCode int16
                errorMessage string null
                resourceType int8
                resourceName string
                patternType int8 default=3
                principal string
                host string
                operation int8
                permissionType int8
""")
