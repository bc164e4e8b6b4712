import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Queue;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.consumer.SubscriptionPattern;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.Stores;

/**
 * Consumers of Apache Kafka's own client, several in one JVM, each with its own thread.
 *
 * <p>Commands are lines of JSON on stdin: {@code {"do": "start", "member", "kind", "topics" | "pattern" | "re2",
 * "config"}} with kind consumer, share or streams, and {@code {"do": "stop", "member"}} for a clean close. A consumer does
 * between two polls what {@code {"do", "member"}} asks: {@code subscribe} (to other {@code "topics" | "pattern" | "re2"}), {@code unsubscribe},
 * {@code assign} ({@code "partitions"} by topic), {@code pause} (stay outside poll for {@code "ms"}), {@code enforce_rebalance}, {@code change_state} (of WeightedAssignor), {@code commit} (commitSync),
 * {@code hold} (say what it holds), {@code metrics} (say its metrics of rebalances), and {@code produce} and {@code offsets_for_times}, which confluent_member.py describes.
 * The end of stdin closes all. Events are lines of JSON on stdout, the same as those of confluent_member.py,
 * and so is the journal that a consumer keeps where {@code "journal"} names a file. A consumer with
 * {@code "commitWhenRevoked"} commits how far it has come with a partition before it lets go of it; one with
 * {@code "commitWhenConsumed"} commits after every poll that gave it records. {@code "pollMs"} is how long a poll takes at most.
 * {@code "listener": {"revoked": {"takesMs", "throws", "commits", "unsubscribes"}}} is what a method of the listener does; one with
 * {@code revoked} and without {@code lost} has the default of {@code onPartitionsLost}. With {@code "pollAgain"} an exception is an event,
 * {@code thrown}, and no end. A consumer without topics and patterns does not subscribe.
 */
public class Member {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final String name;
    private final JsonNode asked;
    /** Short, so that a stop is prompt; it does not delay an assignment. */
    private final Duration poll;
    private final AtomicBoolean stopping = new AtomicBoolean();
    /** What to do before the next poll: a consumer belongs to its thread. */
    private final Queue<JsonNode> actions = new ConcurrentLinkedQueue<>();
    private final Set<TopicPartition> held = new TreeSet<>(
        java.util.Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));
    /** Behind the last record that was consumed of each partition held. */
    private final Map<TopicPartition, OffsetAndMetadata> reached = new HashMap<>();
    private Thread thread;

    private Member(JsonNode asked) {
        this.name = asked.get("member").asText();
        this.asked = asked;
        this.poll = Duration.ofMillis(asked.path("pollMs").asLong(100));
    }

    public static void main(String[] args) throws Exception {
        Map<String, Member> members = new HashMap<>();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            JsonNode command = JSON.readTree(line);
            if (command.get("do").asText().equals("start")) {
                Member member = new Member(command);
                members.put(member.name, member);
                member.start();
                continue;
            }
            Member member = members.get(command.get("member").asText());
            if (command.get("do").asText().equals("stop")) {
                member.stopping.set(true);
            } else {
                member.actions.add(command);
            }
        }
        for (Member member : members.values()) {
            member.stopping.set(true);
        }
        for (Member member : members.values()) {
            member.thread.join();
        }
    }

    private void start() {
        thread = new Thread(this::run, name);
        thread.start();
    }

    private void run() {
        try {
            switch (asked.get("kind").asText()) {
                case "share" -> runShare();
                case "streams" -> runStreams();
                default -> runConsumer();
            }
            say("stopped", Map.of());
        } catch (Exception | LinkageError error) {
            say("error", Map.of("reason", error.toString()));
        }
    }

    private void runConsumer() throws Exception {
        if (asked.hasNonNull("state")) {
            WeightedAssignor.register(name, state(asked), (call, fields) -> {
                fields.put("call", call);
                say("assignor", Map.of("assignor", fields));
            });
        }
        try (Journal journal = new Journal(asked); KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config())) {
            ConsumerRebalanceListener listener = listener(consumer, journal);
            if (asked.hasNonNull("pattern") || asked.hasNonNull("re2") || !topics().isEmpty()) {
                subscribe(asked, consumer, listener);
            }
            say("started", Map.of());
            while (!stopping.get()) {
                try {
                    for (JsonNode action = actions.poll(); action != null; action = actions.poll()) {
                        act(action, consumer, listener);
                    }
                    consume(consumer, journal);
                } catch (RuntimeException error) {
                    sayThrown(error);
                    // What is thrown at every poll is not thrown all the time.
                    Thread.sleep(poll.toMillis());
                }
            }
            try {
                consumer.close();
            } catch (RuntimeException error) {
                sayThrown(error);
            }
        }
    }

    private ConsumerRebalanceListener listener(KafkaConsumer<byte[], byte[]> consumer, Journal journal) {
        Listener own = new Listener(consumer, journal);
        JsonNode scripts = asked.path("listener");
        if (!scripts.has("revoked") || scripts.has("lost")) {
            return own;
        }
        return new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                own.onPartitionsAssigned(partitions);
            }

            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                own.onPartitionsRevoked(partitions);
            }
        };
    }

    private static void subscribe(
            JsonNode command, KafkaConsumer<byte[], byte[]> consumer, ConsumerRebalanceListener listener) {
        if (command.hasNonNull("pattern")) {
            consumer.subscribe(Pattern.compile(command.get("pattern").asText()), listener);
        } else if (command.hasNonNull("re2")) {
            consumer.subscribe(new SubscriptionPattern(command.get("re2").asText()), listener);
        } else {
            consumer.subscribe(topics(command), listener);
        }
    }

    private static List<TopicPartition> partitions(JsonNode command) {
        List<TopicPartition> partitions = new ArrayList<>();
        command.get("partitions").properties().forEach(topic ->
            topic.getValue().forEach(number -> partitions.add(new TopicPartition(topic.getKey(), number.asInt()))));
        return partitions;
    }

    private void consume(KafkaConsumer<byte[], byte[]> consumer, Journal journal) {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(poll);
        for (ConsumerRecord<byte[], byte[]> record : records) {
            journal.record(record);
            reached.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        if (asked.path("commitWhenConsumed").asBoolean() && !records.isEmpty()) {
            consumer.commitSync();
        }
    }

    private void act(JsonNode action, KafkaConsumer<byte[], byte[]> consumer, ConsumerRebalanceListener listener)
            throws InterruptedException {
        switch (action.get("do").asText()) {
            case "subscribe" -> subscribe(action, consumer, listener);
            case "unsubscribe" -> consumer.unsubscribe();
            case "assign" -> consumer.assign(partitions(action));
            case "pause" -> Thread.sleep(action.get("ms").asLong());
            case "enforce_rebalance" -> consumer.enforceRebalance();
            case "change_state" -> WeightedAssignor.change(name, state(action));
            case "commit" -> consumer.commitSync();
            case "produce" -> produce(action);
            case "offsets_for_times" -> lookUp(action, consumer);
            case "hold" -> {
                held.clear();
                held.addAll(consumer.assignment());
                sayPartitions("holds", held, consumer.groupMetadata().memberId());
            }
            case "metrics" -> say("metrics", Map.of("reason", rebalanceMetrics(consumer)));
            default -> throw new IllegalArgumentException(action.toString());
        }
    }

    /** The metrics of KIP-429 by their names, as JSON; NaN is a text there. */
    private static String rebalanceMetrics(KafkaConsumer<byte[], byte[]> consumer) {
        Map<String, Object> values = new TreeMap<>();
        consumer.metrics().forEach((metric, value) -> {
            if (metric.group().equals("consumer-coordinator-metrics") && metric.name().matches(".*(rebalance|partition-.*latency).*")) {
                values.put(metric.name(), value.metricValue());
            }
        });
        try {
            return JSON.writeValueAsString(values);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Writes records to one partition, and says when all are acknowledged. */
    private void produce(JsonNode action) {
        Map<String, Object> settings = Map.of(
            "bootstrap.servers", asked.get("config").get("bootstrap.servers").asText(),
            "compression.type", action.get("compression").asText(),
            "linger.ms", 50,
            "key.serializer", StringSerializer.class,
            "value.serializer", StringSerializer.class);
        Queue<String> errors = new ConcurrentLinkedQueue<>();
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings)) {
            for (JsonNode record : action.get("records")) {
                producer.send(
                    new ProducerRecord<>(
                        action.get("topic").asText(), action.get("partition").asInt(), record.get(0).asText(), record.get(1).asText()),
                    (metadata, error) -> {
                        if (error != null) {
                            errors.add(error.toString());
                        }
                    });
            }
        }
        say("produced", Map.of("reason", String.join(" ", errors)));
    }

    private void lookUp(JsonNode action, KafkaConsumer<byte[], byte[]> consumer) {
        Map<TopicPartition, Long> wanted = new LinkedHashMap<>();
        for (JsonNode partition : action.get("partitions")) {
            wanted.put(new TopicPartition(action.get("topic").asText(), partition.asInt()), action.get("at_ms").asLong());
        }
        Map<TopicPartition, OffsetAndTimestamp> found = consumer.offsetsForTimes(wanted);
        say("offsets", Map.of("reason", wanted.keySet().stream()
            .map(one -> found.get(one) == null ? "-1" : Long.toString(found.get(one).offset()))
            .collect(Collectors.joining(" "))));
    }

    private void sayThrown(RuntimeException error) {
        if (!asked.path("pollAgain").asBoolean()) {
            throw error;
        }
        say("thrown", Map.of("reason", error.getClass().getSimpleName() + ": " + error.getMessage()));
    }

    /** A share consumer has no listener and no assignment to ask for: what it holds only the broker knows. */
    private void runShare() {
        try (KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(config())) {
            consumer.subscribe(topics());
            say("started", Map.of());
            while (!stopping.get()) {
                consumer.poll(poll);
            }
        }
    }

    /** A topology without state or with it in memory, so that no RocksDB is needed. */
    private void runStreams() throws InterruptedException {
        StreamsBuilder builder = new StreamsBuilder();
        KStream<byte[], byte[]> read = builder.stream(topics());
        if (asked.path("counts").asBoolean()) {
            read.groupBy((key, value) -> value).count(Materialized.as(Stores.inMemoryKeyValueStore("counts")));
        } else {
            read.foreach((key, value) -> { });
        }
        Properties properties = config();
        properties.put("default.key.serde", Serdes.ByteArraySerde.class);
        properties.put("default.value.serde", Serdes.ByteArraySerde.class);
        try (KafkaStreams streams = new KafkaStreams(builder.build(), properties)) {
            streams.start();
            say("started", Map.of());
            while (!stopping.get()) {
                sayTasks(streams);
                Thread.sleep(poll.toMillis());
            }
        }
    }

    private void sayTasks(KafkaStreams streams) {
        Set<TopicPartition> active = streams.metadataForLocalThreads().stream()
            .flatMap(one -> one.activeTasks().stream())
            .flatMap(task -> task.topicPartitions().stream())
            .collect(Collectors.toSet());
        if (!active.equals(held)) {
            held.clear();
            held.addAll(active);
            sayPartitions("assigned", active, null);
        }
    }

    private Properties config() {
        Properties properties = new Properties();
        properties.put("key.deserializer", ByteArrayDeserializer.class);
        properties.put("value.deserializer", ByteArrayDeserializer.class);
        if (asked.hasNonNull("state")) {
            properties.put("weighted.member", name);
        }
        asked.get("config").properties().forEach(one -> properties.put(one.getKey(), one.getValue().asText()));
        return properties;
    }

    private static Map<String, String> state(JsonNode command) {
        return JSON.convertValue(command.get("state"), JSON.getTypeFactory().constructMapType(Map.class, String.class, String.class));
    }

    private List<String> topics() {
        return topics(asked);
    }

    private static List<String> topics(JsonNode command) {
        return JSON.convertValue(command.get("topics"), JSON.getTypeFactory().constructCollectionType(List.class, String.class));
    }

    private void sayPartitions(String event, Collection<TopicPartition> partitions, String memberId) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("partitions", byTopic(partitions));
        fields.put("assignment", byTopic(held));
        fields.put("member_id", memberId);
        say(event, fields);
    }

    private void say(String event, Map<String, ?> fields) {
        Map<String, Object> all = new LinkedHashMap<>(Map.of("member", name, "event", event));
        all.putAll(fields);
        try {
            String line = JSON.writeValueAsString(all);
            synchronized (System.out) {
                System.out.println(line);
                System.out.flush();
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static Map<String, Set<Integer>> byTopic(Collection<TopicPartition> partitions) {
        Map<String, Set<Integer>> found = new TreeMap<>();
        for (TopicPartition one : partitions) {
            found.computeIfAbsent(one.topic(), topic -> new TreeSet<>()).add(one.partition());
        }
        return found;
    }

    /** What a consumer was given and when, on the clock that all processes of the machine share. */
    private static final class Journal implements AutoCloseable {
        /** Null where none is kept. */
        private final Writer writer;

        Journal(JsonNode asked) throws IOException {
            writer = asked.hasNonNull("journal") ? Files.newBufferedWriter(Path.of(asked.get("journal").asText())) : null;
        }

        void record(ConsumerRecord<byte[], byte[]> record) {
            write("record " + record.topic() + " " + record.partition() + " " + record.offset()
                + " " + text(record.key()) + ":" + text(record.value()));
        }

        private static String text(byte[] content) {
            return content == null ? "" : new String(content, StandardCharsets.UTF_8);
        }

        void record(String event, Collection<TopicPartition> partitions) {
            partitions.forEach(one -> write(event + " " + one.topic() + " " + one.partition() + " -"));
        }

        private void write(String what) {
            if (writer == null) {
                return;
            }
            try {
                writer.write(System.nanoTime() + " " + what + "\n");
                // What was consumed is known even of a process that is killed.
                writer.flush();
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        @Override
        public void close() throws IOException {
            if (writer != null) {
                writer.close();
            }
        }
    }

    private final class Listener implements ConsumerRebalanceListener {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final Journal journal;

        Listener(KafkaConsumer<byte[], byte[]> consumer, Journal journal) {
            this.consumer = consumer;
            this.journal = journal;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            journal.record("assigned", partitions);
            held.addAll(partitions);
            sayPartitions("assigned", partitions, consumer.groupMetadata().memberId());
            follow("assigned");
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            held.removeAll(Set.copyOf(partitions));
            if (asked.path("commitWhenRevoked").asBoolean()) {
                commit(partitions);
            }
            reached.keySet().removeAll(Set.copyOf(partitions));
            journal.record("revoked", partitions);
            sayPartitions("revoked", partitions, consumer.groupMetadata().memberId());
            follow("revoked");
        }

        /** What was consumed since the rebalance began: auto-commit is done by then, and would leave it to be consumed again. */
        private void commit(Collection<TopicPartition> partitions) {
            // Not consumer.position(): of a partition that has none yet it waits, and the group with it.
            Map<TopicPartition, OffsetAndMetadata> mine = new HashMap<>(reached);
            mine.keySet().retainAll(Set.copyOf(partitions));
            consumer.commitSync(mine);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            held.removeAll(Set.copyOf(partitions));
            reached.keySet().removeAll(Set.copyOf(partitions));
            journal.record("lost", partitions);
            sayPartitions("lost", partitions, null);
            follow("lost");
        }

        /** Does what the script of this method of the listener says. An exception of its commit is its own. */
        private void follow(String method) {
            JsonNode script = asked.path("listener").path(method);
            if (script.path("commits").asBoolean()) {
                consumer.commitSync();
            }
            try {
                Thread.sleep(script.path("takesMs").asLong());
            } catch (InterruptedException error) {
                throw new IllegalStateException(error);
            }
            if (script.path("unsubscribes").asBoolean()) {
                consumer.unsubscribe();
            }
            if (script.path("throws").asBoolean()) {
                throw new IllegalStateException("the listener throws in " + method);
            }
        }
    }
}
