import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.group.Utils;
import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.SubscribedTopicDescriberImpl;
import org.apache.kafka.coordinator.group.modern.SubscriptionCount;
import org.apache.kafka.coordinator.group.modern.TopicIds;

/**
 * Answers what Kafka's own assignors answer: a case a line on stdin (JSON, see tests/kafka/oracle.py), an answer a
 * line on stdout. The inputs are built as the leader (ConsumerCoordinator.onLeaderElected) and the broker
 * (TargetAssignmentBuilder, Assignment.fromRecord) build them: their maps' iteration order is part of the question.
 */
public class AssignorOracle {
    // Names are interned: one String object a topic is what Java is fastest with, and what the timings grant it.
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    public static void main(String[] args) throws Exception {
        JSON.getFactory().configure(JsonGenerator.Feature.ESCAPE_NON_ASCII, true);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        System.setOut(System.err);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer(JSON.readTree(line), answer);
            } catch (Throwable t) {
                answer.removeAll();
                answer.put("error", t.getMessage());
                answer.put("class", t.getClass().getName());
            }
            out.write(JSON.writeValueAsString(answer));
            out.newLine();
            out.flush();
        }
    }

    private static void answer(JsonNode question, ObjectNode answer) throws Exception {
        if (question.has("strings")) {
            order(question, answer);
            return;
        }
        if (question.has("operations")) {
            operate(question, answer);
            return;
        }
        if (question.has("hashed")) {
            hash(new Image(question.get("hashed")), answer);
            return;
        }
        boolean broker = question.get("side").asText().equals("broker");
        int runs = question.path("runs").asInt(0);
        if (runs == 0) {
            write(broker ? onBroker(question).call() : onClient(question).call(), answer.putObject("assignment"));
            return;
        }
        for (int run = 0; run < runs; run++) {
            // The inputs are created again: reading sticky user data empties its buffer.
            Callable<Map<String, Map<String, List<Integer>>>> prepared = broker ? onBroker(question) : onClient(question);
            prepared.call();
        }
        answer.set("ms", JSON.valueToTree(wallMs.subList(wallMs.size() - runs, wallMs.size())));
        answer.set("cpu_ms", JSON.valueToTree(cpuMs.subList(cpuMs.size() - runs, cpuMs.size())));
    }

    private static final List<Double> wallMs = new ArrayList<>();
    private static final List<Double> cpuMs = new ArrayList<>();

    private static <T> T timed(Callable<T> work) throws Exception {
        long cpu = THREADS.getCurrentThreadCpuTime();
        long start = System.nanoTime();
        T result = work.call();
        wallMs.add((System.nanoTime() - start) / 1e6);
        cpuMs.add((THREADS.getCurrentThreadCpuTime() - cpu) / 1e6);
        return result;
    }

    /** Iteration order of a HashMap into which the keys are put one by one; "copied": new HashSet(list). */
    private static void order(JsonNode question, ObjectNode answer) {
        String type = question.get("type").asText();
        List<Object> keys = new ArrayList<>();
        Map<Object, Integer> index = new HashMap<>();
        for (JsonNode key : question.get("strings")) {
            Object value = switch (type) {
                case "integer" -> (Object) key.asInt();
                case "uuid" -> uuid(key.asText());
                case "partition" -> new TopicPartition(key.get(0).asText(), key.get(1).asInt());
                default -> key.asText();
            };
            index.put(value, keys.size());
            keys.add(value);
        }
        Set<Object> set;
        if (question.path("copied").asBoolean()) {
            set = new HashSet<>(keys);
        } else {
            set = question.has("capacity") ? new HashSet<>(question.get("capacity").asInt()) : new HashSet<>();
            set.addAll(keys);
        }
        List<Integer> order = new ArrayList<>();
        set.forEach(key -> order.add(index.get(key)));
        answer.set("order", JSON.valueToTree(order));
        List<Integer> hashes = new ArrayList<>();
        keys.forEach(key -> hashes.add(key.hashCode()));
        answer.set("hashes", JSON.valueToTree(hashes));
    }

    /** Iteration order of a HashMap by topic id after operations: [name, id]. */
    private static void operate(JsonNode question, ObjectNode answer) {
        Map<Uuid, Boolean> map = new HashMap<>(question.get("capacity").asInt());
        Map<Uuid, String> texts = new HashMap<>();
        for (JsonNode operation : question.get("operations")) {
            Uuid key = uuid(operation.get(1).asText());
            texts.put(key, operation.get(1).asText());
            switch (operation.get(0).asText()) {
                case "put" -> map.put(key, true);
                case "compute_if_absent" -> map.computeIfAbsent(key, k -> true);
                case "remove" -> map.remove(key);
                default -> throw new IllegalArgumentException("no operation " + operation);
            }
        }
        answer.set("order", JSON.valueToTree(map.keySet().stream().map(texts::get).toList()));
    }

    /** What a broker compares to see whether topics changed: a topic's own number, and that of all of them. */
    private static void hash(Image image, ObjectNode answer) {
        Map<String, Long> hashes = new HashMap<>();
        image.topicNames().forEach(name -> hashes.put(name, Utils.computeTopicHash(name, image)));
        answer.set("topics", JSON.valueToTree(hashes));
        answer.put("group", Utils.computeGroupHash(hashes));
    }

    private static void write(Map<String, Map<String, List<Integer>>> assignment, ObjectNode into) {
        assignment.forEach((member, topics) -> {
            ObjectNode node = into.putObject(member);
            topics.forEach((topic, partitions) -> {
                Collections.sort(partitions);
                node.set(topic, JSON.valueToTree(partitions));
            });
        });
    }

    // ---- client ----

    private static Callable<Map<String, Map<String, List<Integer>>>> onClient(JsonNode question) throws IOException {
        String name = question.get("assignor").asText();
        Cluster cluster = cluster(question.get("topics"));
        Map<String, ConsumerPartitionAssignor.Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : question.get("members")) {
            subscriptions.put(member.get("id").asText(), subscription(member));
        }
        ConsumerPartitionAssignor assignor = switch (name) {
            case "range" -> new org.apache.kafka.clients.consumer.RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "cooperative-sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException("no client assignor " + name);
        };
        return () -> {
            Map<String, ConsumerPartitionAssignor.Assignment> answer = timed(() -> assignor.assign(
                cluster, new ConsumerPartitionAssignor.GroupSubscription(subscriptions)).groupAssignment());
            Map<String, Map<String, List<Integer>>> assignment = new TreeMap<>();
            answer.forEach((member, assigned) -> {
                Map<String, List<Integer>> topics = assignment.computeIfAbsent(member, m -> new TreeMap<>());
                for (TopicPartition tp : assigned.partitions()) {
                    topics.computeIfAbsent(tp.topic(), t -> new ArrayList<>()).add(tp.partition());
                }
            });
            return assignment;
        };
    }

    private static Cluster cluster(JsonNode topics) {
        Map<String, Node> nodeByRack = new HashMap<>();
        List<PartitionInfo> infos = new ArrayList<>();
        Node bare = new Node(0, "host", 9092, null);
        for (JsonNode topic : topics) {
            String name = topic.get("name").asText().intern();
            JsonNode racks = topic.get("racks");
            for (int p = 0; p < topic.get("partitions").asInt(); p++) {
                List<Node> replicas = new ArrayList<>();
                if (racks != null && !racks.isNull()) {
                    for (JsonNode rack : racks.get(p)) {
                        replicas.add(nodeByRack.computeIfAbsent(
                            rack.asText(), r -> new Node(nodeByRack.size() + 1, "host", 9092, r)));
                    }
                }
                if (replicas.isEmpty()) {
                    replicas.add(bare);
                }
                Node[] array = replicas.toArray(new Node[0]);
                infos.add(new PartitionInfo(name, p, array[0], array, array));
            }
        }
        List<Node> nodes = new ArrayList<>(nodeByRack.values());
        nodes.add(bare);
        return new Cluster("cluster", nodes, infos, Set.of(), Set.of());
    }

    private static ConsumerPartitionAssignor.Subscription subscription(JsonNode member) throws IOException {
        List<String> topics = new ArrayList<>();
        member.get("topics").forEach(topic -> topics.add(topic.asText().intern()));
        List<TopicPartition> owned = new ArrayList<>();
        member.get("owned").fields().forEachRemaining(entry -> entry.getValue().forEach(
            partition -> owned.add(new TopicPartition(entry.getKey().intern(), partition.asInt()))));
        ConsumerPartitionAssignor.Subscription subscription = new ConsumerPartitionAssignor.Subscription(
            topics, userData(member.get("user_data")), owned, member.get("generation").asInt(), text(member, "rack"));
        subscription.setGroupInstanceId(text(member, "instance"));
        return subscription;
    }

    private static Optional<String> text(JsonNode node, String field) {
        JsonNode value = node.get(field);
        return value == null || value.isNull() ? Optional.empty() : Optional.of(value.asText());
    }

    private static ByteBuffer userData(JsonNode data) throws IOException {
        return data == null || data.isNull() ? null : ByteBuffer.wrap(data.binaryValue());
    }

    // ---- broker ----

    private static Callable<Map<String, Map<String, List<Integer>>>> onBroker(JsonNode question) throws Exception {
        String name = question.get("assignor").asText();
        Image image = new Image(question.get("topics"));
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<String, SubscriptionCount> counts = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        for (JsonNode member : question.get("members")) {
            String id = member.get("id").asText();
            List<String> topics = new ArrayList<>();
            member.get("topics").forEach(topic -> topics.add(topic.asText().intern()));
            Set<String> byRegex = new HashSet<>();
            member.path("by_regex").forEach(topic -> byRegex.add(topic.asText()));
            Set<String> names = new HashSet<>(topics);
            for (String topic : names) {
                counts.compute(topic, byRegex.contains(topic) ? SubscriptionCount::incRegexCount : SubscriptionCount::incNameCount);
            }
            Assignment owned = owned(member.get("owned"), image);
            members.put(id, new MemberSubscriptionAndAssignmentImpl(
                text(member, "rack"), text(member, "instance"), new TopicIds(names, image), owned));
            owned.partitions().forEach((topic, partitions) -> partitions.forEach(
                partition -> owners.computeIfAbsent(topic, t -> new HashMap<>()).put(partition, id)));
        }
        GroupSpecImpl group = new GroupSpecImpl(
            Collections.unmodifiableMap(members), ModernGroup.subscriptionType(counts, members.size()), owners);
        ConsumerGroupPartitionAssignor assignor = switch (name) {
            case "uniform" -> new UniformAssignor();
            case "range" -> new org.apache.kafka.coordinator.group.assignor.RangeAssignor();
            default -> throw new IllegalArgumentException("no broker assignor " + name);
        };
        return () -> {
            Map<String, MemberAssignment> answer = timed(
                () -> assignor.assign(group, new SubscribedTopicDescriberImpl(image)).members());
            Map<String, Map<String, List<Integer>>> assignment = new TreeMap<>();
            for (String member : group.memberIds()) {
                // The order of the map of a target decides the next round.
                Map<String, List<Integer>> topics = assignment.computeIfAbsent(member, m -> new LinkedHashMap<>());
                if (answer.containsKey(member)) {
                    answer.get(member).partitions().forEach((topic, partitions) -> {
                        if (!partitions.isEmpty()) {
                            topics.put(image.nameOf(topic), new ArrayList<>(partitions));
                        }
                    });
                }
            }
            return assignment;
        };
    }

    private static Assignment owned(JsonNode owned, Image image) {
        List<ConsumerGroupTargetAssignmentMemberValue.TopicPartition> topics = new ArrayList<>();
        owned.fields().forEachRemaining(entry -> {
            List<Integer> partitions = new ArrayList<>();
            entry.getValue().forEach(partition -> partitions.add(partition.asInt()));
            topics.add(new ConsumerGroupTargetAssignmentMemberValue.TopicPartition()
                .setTopicId(image.idOf(entry.getKey())).setPartitions(partitions));
        });
        return Assignment.fromRecord(new ConsumerGroupTargetAssignmentMemberValue().setTopicPartitions(topics));
    }

    private static Uuid uuid(String text) {
        java.util.UUID id = java.util.UUID.fromString(text);
        return new Uuid(id.getMostSignificantBits(), id.getLeastSignificantBits());
    }

    private record Topic(String name, Uuid id, int partitionCount, JsonNode racks)
        implements CoordinatorMetadataImage.TopicMetadata {
        @Override
        public List<String> partitionRacks(int partition) {
            List<String> found = new ArrayList<>();
            racks.path(partition).forEach(rack -> found.add(rack.asText()));
            return found;
        }
    }

    private static final class Image implements CoordinatorMetadataImage {
        private final Map<String, Topic> byName = new HashMap<>();
        private final Map<Uuid, Topic> byId = new HashMap<>();
        private final Map<String, Uuid> gone = new HashMap<>();

        Image(JsonNode topics) {
            for (JsonNode node : topics) {
                Topic topic = new Topic(
                    node.get("name").asText().intern(), uuid(node.get("id").asText()), node.get("partitions").asInt(), node.path("racks"));
                byName.put(topic.name(), topic);
                byId.put(topic.id(), topic);
            }
        }

        Uuid idOf(String name) {
            Topic topic = byName.get(name);
            return topic != null ? topic.id() : gone.computeIfAbsent(name, n -> new Uuid(0x60e0L, gone.size() + 1));
        }

        String nameOf(Uuid id) {
            return byId.get(id).name();
        }

        @Override
        public Set<Uuid> topicIds() {
            return byId.keySet();
        }

        @Override
        public Set<String> topicNames() {
            return byName.keySet();
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(String name) {
            return Optional.ofNullable(byName.get(name));
        }

        @Override
        public Optional<TopicMetadata> topicMetadata(Uuid id) {
            return Optional.ofNullable(byId.get(id));
        }

        @Override
        public CoordinatorMetadataDelta emptyDelta() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long version() {
            return 1;
        }

        @Override
        public boolean isEmpty() {
            return byName.isEmpty();
        }
    }
}
