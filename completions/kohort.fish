# Completion of kohort and kohort-consumer-groups in fish. Generated: `kohort completion fish` prints it.
#
# Commands, options and their values stand in the tables below; names of groups, topics, members and contexts come
# from `kohort _complete`, which answers within 300 ms or not at all.

function __kohort_spec
    set -g __kohort_commands
    set -g __kohort_options
    set -g __kohort_arguments
    switch $argv[1]
        case 'kohort'
            set __kohort_commands 'list	List groups: type, state, protocol, members' 'describe	Describe groups: offsets and lag, members, state, or where they…' 'validate-regex	Check subscription regexes by the broker\'s engine, and say which…' 'dry-run	Show what a rebalance would do now: the very assignment that Kafka…' 'plan	Plan a migration: what speaks against it, and the steps with their…' 'gate	Ask the cluster whether a step of a plan is complete' 'delete	Delete groups without members, of any type, with all that they…' 'snapshot	Save groups, with the topics they read, to a file that every…' 'serve	Run the embedded group coordinator as a Kafka broker that real…' 'demo	Fill an embedded data directory with a sample fleet to try the…' 'watch	Watch groups while they rebalance: members, epochs, owners, lag…' 'completion	Print the completion script of a shell, for kohort and for…' 'help	Explain a concept, such as epochs, or show the help of a command…' 'fleet	Look at thousands of groups or months of history, with Spark…' 'log	Look into a broker\'s own log of groups and offsets' 'offsets	Look after committed offsets: reset, export, import, clone, delete' 'config	Look after the settings of groups: get, set, unset' 'context	Look after contexts, names for sources: list, show, use, add…'
            set __kohort_options '--version	Print the version and leave' '--debug	Show tracebacks' '--help	Show the options and leave.'
        case 'kohort list'
            set __kohort_options '--type*	Only these types: classic (or generic), consumer, share, streams' '--state*	Only these states: Stable, Empty, …' '--protocol*	Only these protocol types or assignors: consumer, connect, range, …' '--match	Only ids in which this matches (RE2)' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--watch	Ask again every so many seconds, until Ctrl-C; on a terminal in…' '--help	Show the options and leave.'
        case 'kohort describe'
            set __kohort_options '--match	Groups in whose id this matches (RE2)' '--all-groups	All groups' '--members	Show members and what they own' '--offsets	Show committed offsets and lag (the default)' '--state	Show state, coordinator and assignor' '--migration	Show protocol, leader and successor, and what each member waits for' '--lag-time	Add how long ago the first record was written that is not read' '--last-commit	Add when each offset was committed' '--totals	Add sums of lag by topic, by group and over all groups' '--only-with-lag	Only partitions, and groups, that lag' '--verbose	Add epochs, targets, leader epochs, subscriptions' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--watch	Ask again every so many seconds, until Ctrl-C; on a terminal in…' '--help	Show the options and leave.'
            set __kohort_arguments '+ask groups'
        case 'kohort validate-regex'
            set __kohort_options '--file	Regexes, one a line; - is standard input' '--from	Compare with what the classic consumer of this library matches' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments '+any'
        case 'kohort dry-run'
            set __kohort_options '--match	Groups in whose id this matches (RE2)' '--all-groups	All groups' '--assignor	The assignor; by default the one in use' '--side	Who computes; by default whoever does for groups of this type' '--leader	The leader\'s library; by default what the members\' seems to be' '--compare	Show all assignors side by side' '--add	As if N members joined' '--remove*	As if this member left (member, instance or client id)' '--subscribe*	As if this member wanted these topics' '--topic-partitions*	As if this topic had N partitions' '--rack*	As if this member were in this rack' '--fail-rack*	As if this rack, its members and replicas, were gone' '--svg	Draw ownership before and after; one group, one assignor' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments '+ask groups'
        case 'kohort plan'
            set __kohort_options '--match	Groups in whose id this matches (RE2)' '--all-groups	All groups' '--to	Where it is to go; generic is classic' '--client*	The client library of all members, or of one (its id, instance id…' '--clients	The same for many members: MEMBER: LIBRARY[:VERSION] in YAML or…' '--client-config*	The members\' configuration: a Java or librdkafka properties file…' '--regex*	A regex that the members subscribe to: a classic group does not…' '--concurrency	Members that are restarted together' '--bounce-seconds	How long a restart keeps a member away; 30 is usual for a container' '--offline	Plan to stop all members before any starts on the new protocol' '--assignor	With --to eager or classic: the assignor the group is to use…' '--svg	Draw the course of the group, round by round; one plan' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments '+ask groups'
        case 'kohort gate'
            set __kohort_options '--step	The step, by number or id; 0: may the first one begin?' '--round	Ask after round K of the step, for the next one' '--wait	Wait until it opens, 300 seconds unless told; ends early when the…' '--group	Refuse a plan for another group than this' '--accept-changes	Judge although the group reads other topics, or more partitions…' '--no-notes	Do not write PLAN.gates: who was there when a gate opened, for the…' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments 'files'
        case 'kohort delete'
            set __kohort_options '--match	Groups in whose id this matches (RE2)' '--all-groups	All groups' '--execute	Make the change that is shown; without it nothing is changed' '--yes	With --execute: do not ask on the terminal' '--confirm	With --execute: the name of the context that is changed, as a…' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments '+ask groups'
        case 'kohort snapshot'
            set __kohort_options '--match	Groups in whose id this matches (RE2)' '--all-groups	All groups' '--out	Where to write; YAML, or JSON when it ends in .json' '--leaders	Note who leads classic groups: reads __consumer_offsets of a live…' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--help	Show the options and leave.'
            set __kohort_arguments '+ask groups'
        case 'kohort serve'
            set __kohort_options '--listen	Where to listen, on this machine only; port 0: any' '--config*	A broker setting, such as group.max.size=100; repeatable' '--topic*	A topic that is there from the start' '--data	Keep groups, offsets and topics in DIR, and go on from what it holds' '--fsync	With --data: have every answer wait for the disk (the default), or…' '--help	Show the options and leave.'
        case 'kohort demo'
            set __kohort_options '--force	Replace the groups and topics there' '--help	Show the options and leave.'
            set __kohort_arguments 'directories'
        case 'kohort watch'
            set __kohort_options '--every	From one look to the next' '--for	End after so many seconds' '--until	End when all groups are Stable, have no members, or have reached…' '--commits	Tell of every commit of offsets, too' '--output	A view (in a pipe: a line for what happens), or a JSON document a…' '--record	Write every look to a new file' '--force	With --record or --svg: overwrite FILE' '--replay	Show a recording instead' '--speed	With --replay: so many times as fast' '--svg	With --replay: draw who owned what, and when nobody did' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--help	Show the options and leave.'
            set __kohort_arguments '+ask groups'
        case 'kohort completion'
            set __kohort_options '--help	Show the options and leave.'
            set __kohort_arguments 'words bash zsh fish'
        case 'kohort help'
            set __kohort_options '--output	How to print a topic' '--help	Show the options and leave.'
            set __kohort_arguments '+words assignors contexts cooperative epochs exit-status lag offsets-reset protocols regexes security share-and-streams sources states static-membership two-bounces upgrade'
        case 'kohort fleet'
            set __kohort_commands 'history	Work out the history of all groups from a log, with Spark…' 'follow	Keep the tables of a history up to date from a live cluster, with…' 'audit	Judge every group of a fleet, with Spark: which are ready to…'
            set __kohort_options '--help	Show the options and leave.'
        case 'kohort fleet history'
            set __kohort_options '--group*	Only this group, rebalance by rebalance; repeatable' '--as-of	With --group: what it was at 2026-03-01T12:00:00Z, milliseconds…' '--since	Only rebalances that began at this time or after it' '--until	Only rebalances that began by this time' '--out	Keep the tables there, as Parquet; a later run adds what is new' '--report*	Write a page with plots (FILE.html), or its numbers (FILE.json)…' '--svg	Draw the rebalances of the one --group along the time' '--log-dir*	A broker\'s log directory, or part of it: a path, s3a://… or…' '--bootstrap-server	A live cluster: its __consumer_offsets, through Spark\'s Kafka source' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--embedded	The embedded coordinator\'s data directory (the default)' '--context	A source that the configuration file names: see kohort context list' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--master	Spark\'s master: spark://HOST:7077, yarn, …; by default this…' '--conf*	A setting of Spark, as spark.driver.memory=4g; repeatable' '--jars*	Jars for Spark, as those of its Kafka source or of S3A' '--spark-log	Show Spark\'s own log' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
        case 'kohort fleet follow'
            set __kohort_options '--out	The tables, as Parquet; those that are there are added to' '--checkpoint	Where the stream keeps how far it is; beside --out…' '--every	From one look to the next' '--for	End after so many seconds' '--once	Read what there is now, then end: for a timer of your own' '--output	A line of text for what comes, or a JSON document a line' '--bootstrap-server	A live cluster: its __consumer_offsets, through Spark\'s Kafka source' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--context	A source that the configuration file names: see kohort context list' '--master	Spark\'s master: spark://HOST:7077, yarn, …; by default this…' '--conf*	A setting of Spark, as spark.driver.memory=4g; repeatable' '--jars*	Jars for Spark, as those of its Kafka source or of S3A' '--spark-log	Show Spark\'s own log' '--help	Show the options and leave.'
        case 'kohort fleet audit'
            set __kohort_options '--to*	Where the groups are to go; both unless told; repeatable' '--group*	Show what was found of this group; repeatable' '--client*	The client library of all members, or of one (its id, instance id…' '--clients	The same for many members: MEMBER: LIBRARY[:VERSION] in YAML or…' '--client-config*	The members\' configuration: a Java or librdkafka properties file…' '--regex*	A regex that the members subscribe to: a classic group does not…' '--concurrency	Members that are restarted together' '--bounce-seconds	How long a restart keeps a member away' '--out	Write the tables there, as Parquet, in place of those of an…' '--report*	Write a page with plots (FILE.html), or its numbers (FILE.json)…' '--snapshots*	Snapshots of any clusters: a directory with all below it, or a…' '--log-dir*	A broker\'s log directory: a path, s3a://… or hdfs://…; repeatable…' '--embedded	The embedded coordinator\'s data directory (the default)' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--master	Spark\'s master: spark://HOST:7077, yarn, …; by default this…' '--conf*	A setting of Spark, as spark.driver.memory=4g; repeatable' '--jars*	Jars for Spark, as those of its Kafka source or of S3A' '--spark-log	Show Spark\'s own log' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
        case 'kohort log'
            set __kohort_commands 'dump	Show every record of the coordinator\'s log, as kafka-dump-log…' 'verify	Check every batch, record and index file of the coordinator\'s log'
            set __kohort_options '--help	Show the options and leave.'
        case 'kohort log dump'
            set __kohort_options '--group*	Only this group; repeatable' '--key-type*	Only these record types: 1 or OffsetCommit, 2 or GroupMetadata, …' '--from	From this offset, or time (2026-03-01T12:00:00Z, -15m), on' '--to	Up to and with this offset or time' '--batches	Show the batches, not their records' '--output	How to print' '--help	Show the options and leave.'
            set __kohort_arguments '+files'
        case 'kohort log verify'
            set __kohort_options '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments '+directories'
        case 'kohort offsets'
            set __kohort_commands 'reset	Set the committed offsets of groups without members' 'export	Write committed offsets as CSV, as kafka-consumer-groups --export…' 'import	Set committed offsets to those of a file, which offsets export or…' 'clone	Copy a group\'s committed offsets to another group, with their…' 'delete	Delete what groups have committed of a topic that none of their…'
            set __kohort_options '--help	Show the options and leave.'
        case 'kohort offsets reset'
            set __kohort_options '--match	Groups in whose id this matches (RE2)' '--all-groups	All groups' '--topic*	This topic, or these partitions of it; repeatable' '--all-topics	Everything that the group has committed' '--to-earliest	The oldest record that is kept' '--to-latest	Behind the last record' '--to-current	Where it is; behind the last record where nothing is committed' '--to-offset	This offset' '--shift-by	N records on, or back where N < 0' '--to-datetime	The first record at or after 2026-03-01T12:00:00.000 (UTC where no…' '--by-duration	The first record of the last PT2H30M, P7D, …' '--from-file	The offsets of a CSV file: [group,]topic,partition,offset' '--to-group	Where that group is' '--execute	Make the change that is shown; without it nothing is changed' '--yes	With --execute: do not ask on the terminal' '--confirm	With --execute: the name of the context that is changed, as a…' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments '+ask groups'
        case 'kohort offsets export'
            set __kohort_options '--match	Groups in whose id this matches (RE2)' '--all-groups	All groups' '--topic*	Only this topic, or these partitions of it; repeatable' '--with-group	With the group\'s name in each line also for one group' '--out	Where to write; else standard output' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--help	Show the options and leave.'
            set __kohort_arguments '+ask groups'
        case 'kohort offsets import'
            set __kohort_options '--execute	Make the change that is shown; without it nothing is changed' '--yes	With --execute: do not ask on the terminal' '--confirm	With --execute: the name of the context that is changed, as a…' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments 'files' '+ask groups'
        case 'kohort offsets clone'
            set __kohort_options '--topic*	Only this topic, or these partitions of it; repeatable' '--execute	Make the change that is shown; without it nothing is changed' '--yes	With --execute: do not ask on the terminal' '--confirm	With --execute: the name of the context that is changed, as a…' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments 'ask groups' 'ask groups'
        case 'kohort offsets delete'
            set __kohort_options '--match	Groups in whose id this matches (RE2)' '--all-groups	All groups' '--topic*	This topic, or these partitions of it; repeatable' '--execute	Make the change that is shown; without it nothing is changed' '--yes	With --execute: do not ask on the terminal' '--confirm	With --execute: the name of the context that is changed, as a…' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments '+ask groups'
        case 'kohort config'
            set __kohort_commands 'get	Show what settings are in force for a group, where they come from…' 'set	Set settings for one group, within the brokers\' bounds' 'unset	Take settings of one group away, so that the brokers\' are in force'
            set __kohort_options '--help	Show the options and leave.'
        case 'kohort config get'
            set __kohort_options '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments 'ask groups' '+ask settings'
        case 'kohort config set'
            set __kohort_options '--execute	Make the change that is shown; without it nothing is changed' '--yes	With --execute: do not ask on the terminal' '--confirm	With --execute: the name of the context that is changed, as a…' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments 'ask groups' '+ask settings='
        case 'kohort config unset'
            set __kohort_options '--execute	Make the change that is shown; without it nothing is changed' '--yes	With --execute: do not ask on the terminal' '--confirm	With --execute: the name of the context that is changed, as a…' '--bootstrap-server	A live cluster' '--command-config	Client properties for the live cluster, Java-style or librdkafka\'s' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory (the default)' '--log-dir*	A broker\'s log directory (its __consumer_offsets-N), read only…' '--as-of	With --log-dir: as it was at 2026-03-01T12:00:00Z, at milliseconds…' '--topics	With --log-dir: names of topic ids, from kafka-topics --describe…' '--context	A source that the configuration file names: see kohort context list' '--timeout	How long the live cluster may take to answer, in milliseconds' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments 'ask groups' '+ask settings'
        case 'kohort context'
            set __kohort_commands 'list	List the contexts of the configuration file, and say which one is…' 'show	Show what a context says' 'use	Make a context the current one: the source of every command that…' 'add	Add a context to the configuration file, which is made where there…' 'remove	Remove a context from the configuration file, with the secrets…' 'rename	Call a context otherwise; it stays the current one where it was'
            set __kohort_options '--help	Show the options and leave.'
        case 'kohort context list'
            set __kohort_options '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
        case 'kohort context show'
            set __kohort_options '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments 'ask contexts'
        case 'kohort context use'
            set __kohort_options '--none	Let none be the current one' '--help	Show the options and leave.'
            set __kohort_arguments 'ask contexts'
        case 'kohort context add'
            set __kohort_options '--bootstrap-server	A live cluster' '--snapshot	A saved snapshot' '--embedded	The embedded coordinator\'s data directory' '--log-dir*	A broker\'s log directory; repeatable' '--command-config	Client properties; they may also name the bootstrap servers' '--property*	A client property, instead of a file of them; repeatable; no secrets' '--secret*	A property that is asked for on the terminal, or read from a line…' '--secret-env*	A property whose value an environment variable has; repeatable' '--secret-file*	A property whose value is the content of a file; repeatable' '--as-of	With --log-dir: as it was then' '--topics	With --log-dir: names of topic ids' '--timeout	How long the cluster may take to answer' '--output	How commands print' '--protected	Whatever changes it asks for its name, also with --yes' '--use	Make it the current one' '--help	Show the options and leave.'
            set __kohort_arguments 'any'
        case 'kohort context remove'
            set __kohort_options '--execute	Make the change that is shown; without it nothing is changed' '--yes	With --execute: do not ask on the terminal' '--confirm	With --execute: the name of the context that is changed, as a…' '--output	How to print' '--columns	Only these columns, by their headings, in this order' '--sort	Sort rows by these columns; what is unknown comes last' '--no-header	Leave out the headings of columns' '--help	Show the options and leave.'
            set __kohort_arguments 'ask contexts'
        case 'kohort context rename'
            set __kohort_options '--help	Show the options and leave.'
            set __kohort_arguments 'ask contexts' 'any'
        case 'kohort-consumer-groups'
            set __kohort_options '--all-groups	All consumer groups.' '--all-topics	All topics that the group has offsets of.' '--bootstrap-server	The cluster: HOST:PORT,…' '--by-duration	Reset to what was written since PnDTnHnMnS ago.' '--command-config	Client properties.' '--delete	Delete groups without members.' '--delete-offsets	Delete committed offsets of topics.' '--describe	Show offsets and lag, members or state of groups.' '--dry-run	Show what a reset would do (the default).' '--execute	Make the reset.' '--export	Print the offsets of a reset as CSV.' '--from-file	Reset to the offsets of a CSV file.' '--group*	A group; repeatable.' '--help	Print the usage.' '--list	List groups.' '--members	Describe members and what they own.' '--offsets	Describe offsets and lag (the default).' '--reset-offsets	Reset committed offsets.' '--shift-by	Reset by N records; back where N < 0.' '--state	Show states; with list, only groups in these.' '--timeout	How long to wait, in milliseconds.' '--to-current	Reset to the committed offset.' '--to-datetime	Reset to the first record since YYYY-MM-DDTHH:mm:SS.sss.' '--to-earliest	Reset to the first record.' '--to-latest	Reset behind the last record.' '--to-offset	Reset to this offset.' '--topic*	A topic, or topic:0,1; repeatable.' '--type	Show types; with list, only groups of these.' '--validate-regex	Judge a regex by the broker\'s engine.' '--verbose	Describe with epochs, targets and assignments.' '--version	Print the version.'
        case '*'
            return 1
    end
end

function __kohort_value
    switch "$argv[1] $argv[2]"
        case '* --add'
            echo 'any'
        case '* --as-of'
            echo 'any'
        case '* --assignor'
            echo 'words cooperative-sticky range roundrobin sticky uniform'
        case '* --bootstrap-server'
            echo 'any'
        case '* --bounce-seconds'
            echo 'any'
        case '* --by-duration'
            echo 'any'
        case '* --checkpoint'
            echo 'directories'
        case '* --client'
            echo 'words aiokafka franz-go java kafka-python kafkajs librdkafka sarama'
        case '* --client-config'
            echo 'files'
        case '* --clients'
            echo 'files'
        case '* --columns'
            echo 'any'
        case '* --command-config'
            echo 'files'
        case '* --concurrency'
            echo 'any'
        case '* --conf'
            echo 'any'
        case '* --config'
            echo 'any'
        case '* --confirm'
            echo 'ask contexts'
        case '* --context'
            echo 'ask contexts'
        case '* --data'
            echo 'directories'
        case '* --embedded'
            echo 'directories'
        case '* --every'
            echo 'any'
        case '* --fail-rack'
            echo 'any'
        case '* --file'
            echo 'files'
        case '* --for'
            echo 'any'
        case 'kohort validate-regex --from'
            echo 'words java librdkafka'
        case 'kohort log dump --from'
            echo 'any'
        case '* --from-file'
            echo 'files'
        case '* --fsync'
            echo 'words always interval'
        case 'kohort gate --group'
            echo 'ask groups'
        case 'kohort fleet history --group'
            echo 'ask groups'
        case 'kohort fleet audit --group'
            echo 'any'
        case 'kohort log dump --group'
            echo 'any'
        case 'kohort-consumer-groups --group'
            echo 'ask groups'
        case '* --jars'
            echo 'files'
        case '* --key-type'
            echo 'any'
        case '* --leader'
            echo 'words java librdkafka'
        case '* --listen'
            echo 'any'
        case '* --log-dir'
            echo 'directories'
        case '* --master'
            echo 'any'
        case '* --match'
            echo 'any'
        case 'kohort snapshot --out'
            echo 'files'
        case 'kohort fleet history --out'
            echo 'directories'
        case 'kohort fleet follow --out'
            echo 'directories'
        case 'kohort fleet audit --out'
            echo 'directories'
        case 'kohort offsets export --out'
            echo 'files'
        case 'kohort list --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort describe --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort validate-regex --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort dry-run --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort plan --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort gate --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort delete --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort watch --output'
            echo 'words table json'
        case 'kohort help --output'
            echo 'words text markdown json'
        case 'kohort fleet history --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort fleet follow --output'
            echo 'words table json'
        case 'kohort fleet audit --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort log dump --output'
            echo 'words table ndjson json yaml csv'
        case 'kohort log verify --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort offsets reset --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort offsets import --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort offsets clone --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort offsets delete --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort config get --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort config set --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort config unset --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort context list --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort context show --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort context add --output'
            echo 'words table json yaml csv markdown html'
        case 'kohort context remove --output'
            echo 'words table json yaml csv markdown html'
        case '* --property'
            echo 'any'
        case '* --protocol'
            echo 'list consumer connect share streams cooperative-sticky range roundrobin sticky uniform'
        case '* --rack'
            echo 'ask members='
        case '* --record'
            echo 'files'
        case '* --regex'
            echo 'any'
        case '* --remove'
            echo 'ask members'
        case '* --replay'
            echo 'files'
        case '* --report'
            echo 'files'
        case '* --round'
            echo 'any'
        case '* --secret'
            echo 'any'
        case '* --secret-env'
            echo 'any'
        case '* --secret-file'
            echo 'any'
        case '* --shift-by'
            echo 'any'
        case '* --side'
            echo 'words client broker'
        case '* --since'
            echo 'any'
        case '* --snapshot'
            echo 'files'
        case '* --snapshots'
            echo 'directories'
        case '* --sort'
            echo 'any'
        case '* --speed'
            echo 'any'
        case 'kohort list --state'
            echo 'list PreparingRebalance CompletingRebalance Assigning Reconciling Stable Empty Dead NotReady Unknown'
        case 'kohort-consumer-groups --state'
            echo '?list PreparingRebalance CompletingRebalance Assigning Reconciling Stable Empty Dead NotReady Unknown'
        case '* --step'
            echo 'any'
        case '* --subscribe'
            echo 'ask members='
        case '* --svg'
            echo 'files'
        case '* --timeout'
            echo 'any'
        case 'kohort plan --to'
            echo 'words cooperative consumer eager classic generic'
        case 'kohort fleet audit --to'
            echo 'words cooperative consumer'
        case 'kohort log dump --to'
            echo 'any'
        case '* --to-datetime'
            echo 'any'
        case '* --to-group'
            echo 'ask groups'
        case '* --to-offset'
            echo 'any'
        case 'kohort serve --topic'
            echo 'any'
        case 'kohort offsets reset --topic'
            echo 'ask topics'
        case 'kohort offsets export --topic'
            echo 'ask topics'
        case 'kohort offsets clone --topic'
            echo 'ask topics'
        case 'kohort offsets delete --topic'
            echo 'ask topics'
        case 'kohort-consumer-groups --topic'
            echo 'ask topics'
        case '* --topic-partitions'
            echo 'ask topics='
        case '* --topics'
            echo 'files'
        case 'kohort list --type'
            echo 'list classic consumer share streams'
        case 'kohort-consumer-groups --type'
            echo '?list classic consumer share streams'
        case '* --until'
            echo 'any'
        case '* --validate-regex'
            echo 'any'
        case '* --wait'
            echo '?any'
        case '* --watch'
            echo 'any'
        case '* -b'
            echo 'any'
        case '* -o'
            echo 'files'
    end
end

function __kohort_source
    switch $argv[1]
        case --bootstrap-server
            echo -- --bootstrap-server
        case -b
            echo -- --bootstrap-server
        case --command-config
            echo -- --command-config
        case --snapshot
            echo -- --snapshot
        case --embedded
            echo -- --embedded
        case --log-dir
            echo -- --log-dir
        case --as-of
            echo -- --as-of
        case --topics
            echo -- --topics
        case --context
            echo -- --context
    end
end

# A word without its quotes. Only plain variables are expanded; nothing is run.
function __kohort_plain
    set -l name (string match --regex --groups-only -- '^"?\$([A-Za-z_][A-Za-z0-9_]*)"?$' $argv[1])
    if test -n "$name"
        echo -- $$name
    else
        string replace --regex -- '^~(?=/)' "$HOME" $argv[1]
    end
end

# Find out where the cursor is: __kohort_entry is what the tables say of the word there, `commands` or `options`;
# __kohort_prefix is the part of the word that stays.
function __kohort_look
    set -g __kohort_entry options
    set -g __kohort_prefix ''
    set -g __kohort_sources
    set -g __kohort_typed
    set -g __kohort_given
    set -g __kohort_guarded ''
    set -l tokens (commandline --tokenize --current-process --cut-at-cursor)
    set -l current (commandline --current-token --cut-at-cursor)
    set -g __kohort_program (__kohort_plain $tokens[1])
    set -g __kohort_path kohort
    if string match --quiet -- '*kohort-consumer-groups' $__kohort_program
        set __kohort_path kohort-consumer-groups
    end
    set -l pending ''
    set -l ended ''
    __kohort_spec $__kohort_path
    for token in $tokens[2..-1]
        set -l word (__kohort_plain $token)
        if test -n "$pending"
            set -l value (__kohort_value $__kohort_path $pending)
            set -l source (__kohort_source $pending)
            set pending ''
            if not string match --quiet -- '\?*' "$value"; or not string match --quiet -- '-*' $word
                test -n "$source"; and set -a __kohort_sources $source $word
                continue
            end
        end
        if test -n "$ended"; or not string match --quiet --regex -- '^-.' $word
            if test (count $__kohort_commands) -gt 0
                set __kohort_path "$__kohort_path $word"
                if not __kohort_spec $__kohort_path
                    set __kohort_entry any
                    return
                end
            else
                set -a __kohort_typed $word
            end
        else if test "$word" = --
            set ended 1
        else if string match --quiet --regex -- '^--[^=]+=' $word
            set -l halves (string split --max 1 = -- $word)
            set -a __kohort_given $halves[1]
            set -l source (__kohort_source $halves[1])
            test -n "$source"; and set -a __kohort_sources $source $halves[2]
        else
            set -a __kohort_given $word
            if test -n "$(__kohort_value $__kohort_path $word)"
                set pending $word
            else if string match --quiet --regex -- '^-[^-].' $word
                set -l source (__kohort_source (string sub --length 2 -- $word))
                test -n "$source"; and set -a __kohort_sources $source (string sub --start 3 -- $word)
            end
        end
    end

    if test -n "$pending"
        set -l value (__kohort_value $__kohort_path $pending)
        if not string match --quiet -- '\?*' $value; or not string match --quiet -- '-*' $current
            set __kohort_entry (string trim --left --chars '?' -- $value)
            return
        end
    end
    if test -z "$ended"; and string match --quiet --regex -- '^--[^=]+=' $current
        set -l option (string split --max 1 = -- $current)[1]
        set __kohort_entry (string trim --left --chars '?' -- (__kohort_value $__kohort_path $option))
        set __kohort_prefix $option=
        return
    end
    if test (count $__kohort_commands) -gt 0; and not string match --quiet -- '-*' $current
        set __kohort_entry commands
        return
    end
    set -l value ''
    set -l position (math (count $__kohort_typed) + 1)
    if test $position -le (count $__kohort_arguments)
        set value $__kohort_arguments[$position]
    else if string match --quiet -- '+*' "$__kohort_arguments[-1]"
        set value $__kohort_arguments[-1]
    end
    if test -n "$ended"; or begin
            not string match --quiet -- '-*' $current
            and test -n "$value"
        end
        test -z "$ended"; and set __kohort_guarded 1
        set __kohort_entry (string trim --left --chars + -- $value)
    end
end

# Whether a file is wanted, which fish itself completes.
function __kohort_wants_file
    __kohort_look
    test "$__kohort_entry" = files
end

# Names of a kind that a source knows, with their descriptions.
function __kohort_ask
    set -l program kohort
    switch "$__kohort_program"
        case '*/kohort'
            set program $__kohort_program
        case '*/kohort-consumer-groups'
            set program (string replace --regex -- '[^/]*$' kohort $__kohort_program)
    end
    set -l found (command $program _complete $argv[1] $__kohort_sources -- $__kohort_typed 2>/dev/null </dev/null)
    test -n "$__kohort_guarded"; and set found (string match --invert -- '-*' $found)
    string join \n -- $__kohort_prefix$found
end

# What __kohort_look found, as fish takes it: a line each, a description behind a tab.
function __kohort_offer
    __kohort_look
    set -l known (string split --no-empty ' ' -- $__kohort_entry)
    switch "$known[1]"
        case commands
            string join \n -- $__kohort_commands
        case options
            for line in $__kohort_options
                set -l halves (string split \t -- $line)
                set -l name (string trim --right --chars '*' -- $halves[1])
                if test $name != $halves[1]; or not contains -- $name $__kohort_given
                    printf '%s\t%s\n' $name $halves[2]
                end
            end
        case directories
            set -l current (commandline --current-token --cut-at-cursor)
            set -l typed (string sub --start (math (string length -- "$__kohort_prefix") + 1) -- $current)
            string join \n -- $__kohort_prefix(__fish_complete_directories "$typed" '')
        case words
            string join \n -- $__kohort_prefix$known[2..-1]
        case list
            set -l current (commandline --current-token --cut-at-cursor)
            set -l before (string match --regex -- '.*,' $current)
            test -n "$before"; or set before $__kohort_prefix
            string join \n -- "$before"$known[2..-1]
        case ask
            __kohort_ask $known[2]
    end
end

for program in kohort kohort-consumer-groups
    complete --command $program --no-files
    complete --command $program --condition __kohort_wants_file --force-files
    complete --command $program --no-files --arguments '(__kohort_offer)'
end
