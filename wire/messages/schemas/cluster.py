"""The cluster: versions, brokers, partitions and settings."""

from wire.messages.definition import api

API_VERSIONS = api("""
    ApiVersions 18 0-5 flexible=3 sent=0-4
    request
        clientSoftwareName string 3+
        clientSoftwareVersion string 3+
        clusterId string 5+ null default=null
        nodeId int32 5+ default=-1
    response
        errorCode int16
        apiKeys {}[]
            apiKey int16
            minVersion int16
            maxVersion int16
        throttleTimeMs int32 1+ default=0
        supportedFeatures {}[] 3+ tag=0
            name string
            minVersion int16
            maxVersion int16
        finalizedFeaturesEpoch int64 3+ tag=1 default=-1
        finalizedFeatures {}[] 3+ tag=2
            name string
            maxVersionLevel int16
            minVersionLevel int16
        zkMigrationReady bool 3+ tag=3
""")

METADATA = api("""
    Metadata 3 0-13 flexible=9
    request
        topics {}[] null=1+
            topicId uuid 10+
            name string null=10+
        allowAutoTopicCreation bool 4+ default=true
        includeClusterAuthorizedOperations bool 8-10
        includeTopicAuthorizedOperations bool 8+
    response
        throttleTimeMs int32 3+ default=0
        brokers {}[]
            nodeId int32
            host string
            port int32
            rack string 1+ null default=null
        clusterId string 2+ null default=null
        controllerId int32 1+ default=-1
        topics {}[]
            errorCode int16
            name string null=12+
            topicId uuid 10+
            isInternal bool 1+ default=false
            partitions {}[]
                errorCode int16
                partitionIndex int32
                leaderId int32
                leaderEpoch int32 7+ default=-1
                replicaNodes int32[]
                isrNodes int32[]
                offlineReplicas int32[] 5+
            topicAuthorizedOperations int32 8+ default=-2147483648
        clusterAuthorizedOperations int32 8-10 default=-2147483648
        errorCode int16 13+
""")

DESCRIBE_CLUSTER = api("""
    DescribeCluster 60 0-2
    request
        includeClusterAuthorizedOperations bool
        endpointType int8 1+ default=1
        includeFencedBrokers bool 2+
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null default=null
        endpointType int8 1+ default=1
        clusterId string
        controllerId int32 default=-1
        brokers {}[]
            brokerId int32
            host string
            port int32
            rack string null default=null
            isFenced bool 2+
        clusterAuthorizedOperations int32 default=-2147483648
""")

DESCRIBE_CONFIGS = api("""
    DescribeConfigs 32 1-4 flexible=4
    request
        resources {}[]
            resourceType int8
            resourceName string
            configurationKeys string[] null
        includeSynonyms bool default=false
        includeDocumentation bool 3+ default=false
    response
        throttleTimeMs int32 default=0
        results {}[]
            errorCode int16
            errorMessage string null
            resourceType int8
            resourceName string
            configs {}[]
                name string
                value string null
                readOnly bool
                configSource int8 default=-1
                isSensitive bool
                synonyms {}[]
                    name string
                    value string null
                    source int8
                configType int8 3+ default=0
                documentation string 3+ null
""")

INCREMENTAL_ALTER_CONFIGS = api("""
    IncrementalAlterConfigs 44 0-1 flexible=1
    request
        resources {}[]
            resourceType int8
            resourceName string
            configs {}[]
                name string
                configOperation int8
                value string null
        validateOnly bool
    response
        throttleTimeMs int32 default=0
        responses {}[]
            errorCode int16
            errorMessage string null
            resourceType int8
            resourceName string
""")

ALTER_CONFIGS = api("""
    AlterConfigs 33 0-2 flexible=2
    request
        resources {}[]
            resourceType int8
            resourceName string
            configs {}[]
                name string
                value string null
        validateOnly bool
    response
        throttleTimeMs int32 default=0
        responses {}[]
            errorCode int16
            errorMessage string null
            resourceType int8
            resourceName string
""")

UPDATE_FEATURES = api("""
    UpdateFeatures 57 0-2
    request
        timeoutMs int32 default=60000
        featureUpdates {}[]
            feature string
            maxVersionLevel int16
            allowDowngrade bool 0
            upgradeType int8 1+ default=1
        validateOnly bool 1+
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null
        results {}[] 0-1
            feature string
            errorCode int16
            errorMessage string null
""")
