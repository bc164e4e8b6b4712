package org.apache.kafka.streams.processor.internals;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.*;
// 4.4 moved LogContext there.
import org.apache.kafka.common.utils.internals.*;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.assignment.AssignmentInfo;
import org.apache.kafka.streams.processor.internals.assignment.ReferenceContainer;
import org.apache.kafka.streams.processor.internals.assignment.StreamsAssignmentProtocolVersions;
import org.apache.kafka.streams.processor.internals.assignment.SubscriptionInfo;
import org.apache.kafka.streams.state.HostInfo;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * Answers what the leader of a Streams group answers: a case a line on stdin (JSON, see tests/kafka/task_oracle.py), an
 * answer a line on stdout. The DSL builds the topology, and the assignor is the whole StreamsPartitionAssignor. Only the
 * cluster is not there: its topics, end offsets and committed offsets are part of the case.
 */
public class TaskOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int VERSION = StreamsAssignmentProtocolVersions.LATEST_SUPPORTED_VERSION;
    private static final Node NODE = new Node(0, "host", 9092);

    public static void main(String[] args) throws Exception {
        JSON.getFactory().configure(JsonGenerator.Feature.ESCAPE_NON_ASCII, true);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = System.out;
        System.setOut(System.err);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer(JSON.readTree(line), answer);
            } catch (Throwable t) {
                answer.put("error", t.getMessage() == null ? t.toString() : t.getMessage());
            }
            out.println(JSON.writeValueAsString(answer));
            out.flush();
        }
    }

    private static void answer(JsonNode question, ObjectNode answer) throws Exception {
        Topology topology = topology(question);
        answer.put("description", topology.describe().toString());
        if (!question.has("threads")) {
            return;
        }
        TopologyMetadata metadata = new TopologyMetadata(internals(topology), new StreamsConfig(settings(question)));
        metadata.buildAndRewriteTopology();
        StreamsPartitionAssignor assignor = assignor(question, metadata);
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode thread : question.get("threads")) {
            subscriptions.put(thread.get("id").asText(), subscription(thread));
        }
        Map<String, Assignment> assigned =
            assignor.assign(cluster(question.get("topics")), new GroupSubscription(subscriptions)).groupAssignment();
        ObjectNode threads = answer.putObject("threads");
        for (Map.Entry<String, Assignment> entry : assigned.entrySet()) {
            write(entry.getValue(), threads.putObject(entry.getKey()));
        }
    }

    private static void write(Assignment assignment, ObjectNode into) {
        AssignmentInfo info = AssignmentInfo.decode(assignment.userData());
        if (info.errCode() != 0) {
            into.put("error_code", info.errCode());
            return;
        }
        ArrayNode partitions = into.putArray("partitions");
        for (TopicPartition partition : assignment.partitions()) {
            partitions.addArray().add(partition.topic()).add(partition.partition());
        }
        ArrayNode active = into.putArray("active");
        new TreeSet<>(info.activeTasks()).forEach(task -> active.add(task.toString()));
        ArrayNode standby = into.putArray("standby");
        new TreeSet<>(info.standbyTasks().keySet()).forEach(task -> standby.add(task.toString()));
        into.put("next_rebalance_ms", info.nextRebalanceMs() == Long.MAX_VALUE ? -1 : info.nextRebalanceMs());
    }

    // ---- the application ----

    private static Topology topology(JsonNode question) {
        StreamsBuilder builder = new StreamsBuilder();
        Map<String, KTable<byte[], byte[]>> tables = new HashMap<>();
        for (JsonNode pipeline : question.get("pipelines")) {
            List<String> sources = texts(pipeline.get("sources"));
            if (pipeline.path("table").asBoolean()) {
                KeyValueBytesStoreSupplier store = Stores.inMemoryKeyValueStore(pipeline.get("store").asText());
                tables.put(sources.get(0), builder.table(sources.get(0), Materialized.as(store)));
                continue;
            }
            KStream<byte[], byte[]> stream = builder.stream(sources);
            if (pipeline.hasNonNull("repartition")) {
                Repartitioned<byte[], byte[]> repartitioned = Repartitioned.as(pipeline.get("repartition").asText());
                if (pipeline.hasNonNull("partitions")) {
                    repartitioned = repartitioned.withNumberOfPartitions(pipeline.get("partitions").asInt());
                }
                stream = stream.selectKey((key, value) -> value).repartition(repartitioned);
            }
            if (pipeline.hasNonNull("join")) {
                stream = stream.join(tables.get(pipeline.get("join").asText()), (left, right) -> left);
            }
            if (pipeline.hasNonNull("store")) {
                String name = pipeline.get("store").asText();
                Materialized<byte[], Long, KeyValueStore<Bytes, byte[]>> store =
                    Materialized.as(Stores.inMemoryKeyValueStore(name));
                stream.groupByKey().count(pipeline.path("logged").asBoolean(true) ? store : store.withLoggingDisabled());
            }
            if (pipeline.hasNonNull("sink")) {
                stream.to(pipeline.get("sink").asText());
            } else {
                stream.foreach((key, value) -> { });
            }
        }
        return builder.build(settings(question));
    }

    private static List<String> texts(JsonNode nodes) {
        List<String> texts = new ArrayList<>();
        nodes.forEach(node -> texts.add(node.asText()));
        return texts;
    }

    private static Properties settings(JsonNode question) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, question.path("application").asText("app"));
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "localhost:1");
        question.path("settings").fields().forEachRemaining(entry -> settings.put(entry.getKey(), entry.getValue().asText()));
        return settings;
    }

    private static InternalTopologyBuilder internals(Topology topology) throws Exception {
        Field field = Topology.class.getDeclaredField("internalTopologyBuilder");
        field.setAccessible(true);
        return (InternalTopologyBuilder) field.get(topology);
    }

    // ---- the leader ----

    private static StreamsPartitionAssignor assignor(JsonNode question, TopologyMetadata metadata) {
        ReferenceContainer references = new ReferenceContainer();
        references.adminClient = stub(Admin.class, (proxy, method, args) -> endOffsets(question, (Map<?, ?>) args[0]));
        references.mainConsumer = consumer(question);
        ProcessId leader = new ProcessId(UUID.fromString(question.get("leader").asText()));
        references.taskManager = new TaskManager(
            Time.SYSTEM, null, leader, "", null, null, null, metadata, references.adminClient, null, null, null);
        references.streamsMetadataState = new StreamsMetadataState(metadata, HostInfo.unavailable(), new LogContext());
        references.time = stub(Time.class, (proxy, method, args) -> 0L); // a clock at 0: a time is a delay
        references.clientTags = Map.of();
        Map<String, Object> configs = new HashMap<>();
        settings(question).forEach((key, value) -> configs.put((String) key, value));
        configs.put(StreamsConfig.InternalConfig.REFERENCE_CONTAINER_PARTITION_ASSIGNOR, references);
        StreamsPartitionAssignor assignor = new StreamsPartitionAssignor();
        assignor.configure(configs);
        Set<String> created = Set.copyOf(texts(question.get("created")));
        assignor.setInternalTopicManager(
            new InternalTopicManager(Time.SYSTEM, references.adminClient, new StreamsConfig(settings(question))) {
                @Override
                public Set<String> makeReady(Map<String, InternalTopicConfig> topics) {
                    Set<String> ready = new TreeSet<>(topics.keySet());
                    ready.retainAll(created);
                    return ready;
                }
            });
        return assignor;
    }

    private static ListOffsetsResult endOffsets(JsonNode question, Map<?, ?> partitions) {
        Map<TopicPartition, KafkaFuture<ListOffsetsResultInfo>> futures = new HashMap<>();
        if (question.get("end_offsets").isNull()) {
            throw new TimeoutException("no end offsets");
        }
        for (Object key : partitions.keySet()) {
            TopicPartition partition = (TopicPartition) key;
            long end = question.get("end_offsets").path(partition.topic()).path(partition.partition()).asLong(0);
            futures.put(partition, KafkaFuture.completedFuture(new ListOffsetsResultInfo(end, -1, Optional.empty())));
        }
        return new ListOffsetsResult(futures);
    }

    @SuppressWarnings("unchecked")
    private static Consumer<byte[], byte[]> consumer(JsonNode question) {
        return stub(Consumer.class, (proxy, method, args) -> {
            Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
            for (Object key : (Collection<?>) args[0]) {
                TopicPartition partition = (TopicPartition) key;
                JsonNode offset = question.path("committed").path(partition.topic()).path(partition.partition());
                committed.put(partition, offset.isNumber() ? new OffsetAndMetadata(offset.asLong()) : null);
            }
            return committed;
        });
    }

    private static <T> T stub(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static Cluster cluster(JsonNode topics) {
        List<PartitionInfo> infos = new ArrayList<>();
        topics.fields().forEachRemaining(topic -> {
            for (int partition = 0; partition < topic.getValue().asInt(); partition++) {
                infos.add(new PartitionInfo(topic.getKey(), partition, NODE, new Node[] {NODE}, new Node[] {NODE}));
            }
        });
        return new Cluster("cluster", List.of(NODE), infos, Set.of(), Set.of());
    }

    private static Subscription subscription(JsonNode thread) {
        List<TopicPartition> owned = new ArrayList<>();
        thread.get("owned").forEach(
            partition -> owned.add(new TopicPartition(partition.get(0).asText(), partition.get(1).asInt())));
        Map<TaskId, Long> offsetSums = new HashMap<>();
        thread.get("offset_sums").fields().forEachRemaining(
            entry -> offsetSums.put(TaskId.parse(entry.getKey()), entry.getValue().asLong()));
        ProcessId process = new ProcessId(UUID.fromString(thread.get("process").asText()));
        SubscriptionInfo info =
            new SubscriptionInfo(VERSION, VERSION, process, null, offsetSums, (byte) 0, 0, Map.of());
        return new Subscription(List.of("topic"), info.encode(), owned, 1, Optional.empty());
    }
}
