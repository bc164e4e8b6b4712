"""Requests of administrators: topics, partitions, log directories, reassignments, elections, quotas and logins."""

from wire.messages.definition import api

CREATE_TOPICS = api("""
    CreateTopics 19 2-7 flexible=5
    request
        topics {}[]
            name string
            numPartitions int32
            replicationFactor int16
            assignments {}[]
                partitionIndex int32
                brokerIds int32[]
            configs {}[]
                name string
                value string null
        timeoutMs int32 default=60000
        validateOnly bool default=false
    response
        throttleTimeMs int32 default=0
        topics {}[]
            name string
            topicId uuid 7+
            errorCode int16
            errorMessage string null
            topicConfigErrorCode int16 5+ tag=0
            numPartitions int32 5+ default=-1
            replicationFactor int16 5+ default=-1
            configs {}[] 5+ null
                name string
                value string null
                readOnly bool
                configSource int8 default=-1
                isSensitive bool
""")

DELETE_TOPICS = api("""
    DeleteTopics 20 1-6 flexible=4
    request
        topicNames string[] 1-5
        topics {}[] 6+
            name string null default=null
            topicId uuid
        timeoutMs int32
    response
        throttleTimeMs int32 default=0
        responses {}[]
            name string null=6+
            topicId uuid 6+
            errorCode int16
            errorMessage string 5+ null default=null
""")

CREATE_PARTITIONS = api("""
    CreatePartitions 37 0-3 flexible=2
    request
        topics {}[]
            name string
            count int32
            assignments {}[] null
                brokerIds int32[]
        timeoutMs int32
        validateOnly bool
    response
        throttleTimeMs int32 default=0
        results {}[]
            name string
            errorCode int16
            errorMessage string null default=null
""")

DESCRIBE_LOG_DIRS = api("""
    DescribeLogDirs 35 1-5 flexible=2
    request
        topics {}[] null
            topic string
            partitions int32[]
    response
        throttleTimeMs int32 default=0
        errorCode int16 3+
        results {}[]
            errorCode int16
            logDir string
            topics {}[]
                name string
                partitions {}[]
                    partitionIndex int32
                    partitionSize int64
                    offsetLag int64
                    isFutureKey bool
            totalBytes int64 4+ default=-1
            usableBytes int64 4+ default=-1
            isCordoned bool 5+ default=false
""")

ELECT_LEADERS = api("""
    ElectLeaders 43 0-2 flexible=2
    request
        electionType int8 1+
        topicPartitions {}[] null
            topic string
            partitions int32[]
        timeoutMs int32 default=60000
    response
        throttleTimeMs int32 default=0
        errorCode int16 1+
        replicaElectionResults {}[]
            topic string
            partitionResult {}[]
                partitionId int32
                errorCode int16
                errorMessage string null
""")

ALTER_PARTITION_REASSIGNMENTS = api("""
    AlterPartitionReassignments 45 0-1
    request
        timeoutMs int32 default=60000
        allowReplicationFactorChange bool 1+ default=true
        topics {}[]
            name string
            partitions {}[]
                partitionIndex int32
                replicas int32[] null default=null
    response
        throttleTimeMs int32 default=0
        allowReplicationFactorChange bool 1+ default=true
        errorCode int16
        errorMessage string null
        responses {}[]
            name string
            partitions {}[]
                partitionIndex int32
                errorCode int16
                errorMessage string null
""")

LIST_PARTITION_REASSIGNMENTS = api("""
    ListPartitionReassignments 46 0-0
    request
        timeoutMs int32 default=60000
        topics {}[] null default=null
            name string
            partitionIndexes int32[]
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null
        topics {}[]
            name string
            partitions {}[]
                partitionIndex int32
                replicas int32[]
                addingReplicas int32[]
                removingReplicas int32[]
""")

DESCRIBE_CLIENT_QUOTAS = api("""
    DescribeClientQuotas 48 0-1 flexible=1
    request
        components {}[]
            entityType string
            matchType int8
            match string null
        strict bool
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null
        entries {}[] null
            entity {}[]
                entityType string
                entityName string null
            values {}[]
                key string
                value float64
""")

DESCRIBE_USER_SCRAM_CREDENTIALS = api("""
    DescribeUserScramCredentials 50 0-0
    request
        users {}[] null
            name string
    response
        throttleTimeMs int32 default=0
        errorCode int16
        errorMessage string null
        results {}[]
            user string
            errorCode int16
            errorMessage string null
            credentialInfos {}[]
                mechanism int8
                iterations int32
""")

LIST_CONFIG_RESOURCES = api("""
    ListConfigResources 74 0-1
    request
        resourceTypes int8[] 1+
    response
        throttleTimeMs int32 default=0
        errorCode int16
        configResources {}[]
            resourceName string
            resourceType int8 1+ default=16
""")

DESCRIBE_TOPIC_PARTITIONS = api("""
    DescribeTopicPartitions 75 0-0
    request
        topics {}[]
            name string
        responsePartitionLimit int32 default=2000
        cursor {} null default=null
            topicName string
            partitionIndex int32
    response
        throttleTimeMs int32 default=0
        topics {}[]
            errorCode int16
            name string null
            topicId uuid
            isInternal bool default=false
            partitions {}[]
                errorCode int16
                partitionIndex int32
                leaderId int32
                leaderEpoch int32 default=-1
                replicaNodes int32[]
                isrNodes int32[]
                eligibleLeaderReplicas int32[] null default=null
                lastKnownElr int32[] null default=null
                offlineReplicas int32[]
            topicAuthorizedOperations int32 default=-2147483648
        nextCursor {} null default=null
            topicName string
            partitionIndex int32
""")
