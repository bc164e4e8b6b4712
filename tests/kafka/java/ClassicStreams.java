import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.KeyValueBytesStoreSupplier;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.Stores;

/**
 * An application of Kafka Streams of any release from 2.3 on: it counts the records of each topic by key, in memory, in
 * one subtopology a topic. Arguments: the topics, separated by commas, then settings as {@code name=value}. When the
 * tasks of its threads change it says so, as JSON by client id; it ends with its standard input. A record "fail" fails it;
 * with {@code -Dfails=true} it then requests that the whole application shuts down (2.8 and later). With
 * {@code -Dpersistent=true} its stores count as persistent, so that its process keeps its id (2.8 and later).
 */
public final class ClassicStreams {
    private static final byte[] FAILING = "fail".getBytes(StandardCharsets.UTF_8);

    public static void main(String[] args) throws Exception {
        StreamsBuilder builder = new StreamsBuilder();
        for (String topic : args[0].split(",")) {
            builder.stream(topic, Consumed.with(Serdes.Bytes(), Serdes.Bytes()))
                .peek((key, value) -> check(value))
                .groupByKey(Grouped.with(Serdes.Bytes(), Serdes.Bytes()))
                .count(Materialized.as(store(topic + "-counts")));
        }
        Properties properties = new Properties();
        for (int at = 1; at < args.length; at++) {
            int equals = args[at].indexOf('=');
            properties.setProperty(args[at].substring(0, equals), args[at].substring(equals + 1));
        }
        KafkaStreams streams = new KafkaStreams(builder.build(), properties);
        if (Boolean.getBoolean("fails")) {
            streams.setUncaughtExceptionHandler(failed -> StreamThreadExceptionResponse.SHUTDOWN_APPLICATION);
        }
        streams.start();
        AtomicBoolean stopping = new AtomicBoolean();
        Thread input = new Thread(() -> {
            try {
                while (System.in.read() >= 0) {
                    continue;
                }
            } catch (IOException closed) {
                // as at its end
            }
            stopping.set(true);
        });
        input.setDaemon(true);
        input.start();
        String last = "";
        while (!stopping.get()) {
            String now = threads(streams);
            if (!now.equals(last)) {
                System.out.println(now);
                last = now;
            }
            Thread.sleep(100);
        }
        streams.close(Duration.ofSeconds(10));
    }

    private static KeyValueBytesStoreSupplier store(String name) {
        KeyValueBytesStoreSupplier inMemory = Stores.inMemoryKeyValueStore(name);
        if (!Boolean.getBoolean("persistent")) {
            return inMemory;
        }
        return new KeyValueBytesStoreSupplier() {
            @Override
            public String name() {
                return name;
            }

            @Override
            @SuppressWarnings("unchecked")
            public KeyValueStore<Bytes, byte[]> get() {
                KeyValueStore<Bytes, byte[]> store = inMemory.get();
                return (KeyValueStore<Bytes, byte[]>) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {KeyValueStore.class},
                    (proxy, method, arguments) ->
                        method.getName().equals("persistent") ? true : method.invoke(store, arguments));
            }

            @Override
            public String metricsScope() {
                return inMemory.metricsScope();
            }
        };
    }

    private static void check(Bytes value) {
        if (value != null && Arrays.equals(value.get(), FAILING)) {
            throw new IllegalStateException("the record fails");
        }
    }

    /** What `metadataForLocalThreads`, or `localThreadsMetadata` before 3.0, says of each thread. */
    private static String threads(KafkaStreams streams) throws Exception {
        Method threads;
        try {
            threads = KafkaStreams.class.getMethod("metadataForLocalThreads");
        } catch (NoSuchMethodException before30) {
            threads = KafkaStreams.class.getMethod("localThreadsMetadata");
        }
        TreeMap<String, String> said = new TreeMap<>();
        for (Object thread : (Collection<?>) threads.invoke(streams)) {
            said.put((String) call(thread, "consumerClientId"), "{\"active\": " + tasks(thread, "activeTasks")
                + ", \"standby\": " + tasks(thread, "standbyTasks") + "}");
        }
        StringBuilder line = new StringBuilder("{\"state\": \"" + streams.state() + "\", \"threads\": {");
        said.forEach((name, tasks) -> line.append(line.toString().endsWith("{") ? "" : ", ")
            .append('"').append(name).append("\": ").append(tasks));
        return line.append("}}").toString();
    }

    private static String tasks(Object thread, String kind) throws Exception {
        TreeMap<String, String> ids = new TreeMap<>();
        for (Object task : (Collection<?>) call(thread, kind)) {
            ids.put(String.valueOf(call(task, "taskId")), "");
        }
        return ids.isEmpty() ? "[]" : "[\"" + String.join("\", \"", ids.keySet()) + "\"]";
    }

    private static Object call(Object target, String name) throws Exception {
        Method method = target.getClass().getMethod(name);
        method.setAccessible(true);
        return method.invoke(target);
    }
}
