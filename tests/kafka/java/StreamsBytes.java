import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.kafka.common.TopicPartition;

/**
 * What Kafka Streams' assignor writes, in every version that this release writes: for each content a line of JSON with
 * the bytes and what the release's own classes read from them. With reflection only, because their constructors differ.
 */
public final class StreamsBytes {
    private static final String PACKAGE = "org.apache.kafka.streams.processor.internals.assignment.";
    private static final UUID PROCESS = UUID.fromString("0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9");

    public static void main(String[] args) throws Exception {
        Class<?> subscription = Class.forName(PACKAGE + "SubscriptionInfo");
        Class<?> assignment = Class.forName(PACKAGE + "AssignmentInfo");
        for (int version = 1; version <= newest(subscription); version++) {
            for (String content : List.of("bare", "full", "named")) {
                if (content.equals("named") && version < 10) {
                    continue;
                }
                say("subscription", version, content, subscription, subscription(subscription, version, content));
                say("assignment", version, content, assignment, assignment(assignment, version, content));
            }
        }
    }

    private static int newest(Class<?> subscription) throws Exception {
        try {
            return Class.forName(PACKAGE + "StreamsAssignmentProtocolVersions")
                .getField("LATEST_SUPPORTED_VERSION").getInt(null);
        } catch (ClassNotFoundException before24) {
            return subscription.getField("LATEST_SUPPORTED_VERSION").getInt(null);
        }
    }

    private static Object subscription(Class<?> type, int version, String content) throws Exception {
        boolean bare = content.equals("bare");
        String name = content.equals("named") ? "töpology" : null;
        Map<Object, Long> sums = new LinkedHashMap<>();
        if (!bare) {
            sums.put(task(0, 0, name), -2L);
            sums.put(task(0, 11, name), -2L);
            sums.put(task(1, 0, name), version < 7 ? -3L : 42L);
            sums.put(task(1, 7, null), version < 7 ? -3L : 123456789012L);
            sums.put(task(2, 3, null), version < 7 ? -3L : -4L);
        }
        String endPoint = bare ? null : "stream-1.example:8080";
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            constructor.setAccessible(true);
            int arity = constructor.getParameterCount();
            if (arity == 5) {
                Set<Object> active = new HashSet<>();
                Set<Object> standby = new HashSet<>();
                sums.forEach((task, sum) -> (sum == -2L ? active : standby).add(task));
                return constructor.newInstance(version, PROCESS, active, standby, endPoint);
            }
            int known = version < 3 ? -1 : newest(type);
            byte unique = (byte) (bare ? 0 : 5);
            int error = bare ? 0 : 4;
            if (arity == 7) {
                return constructor.newInstance(version, known, PROCESS, endPoint, sums, unique, error);
            }
            if (arity == 8) {
                Map<String, String> tags = new LinkedHashMap<>();
                if (!bare) {
                    tags.put("zone", "eu-süd");
                    tags.put("cluster", "k8s");
                }
                Object process = constructor.getParameterTypes()[2] == UUID.class
                    ? PROCESS
                    : constructor.getParameterTypes()[2].getConstructor(UUID.class).newInstance(PROCESS);
                return constructor.newInstance(version, known, process, endPoint, sums, unique, error, tags);
            }
        }
        throw new IllegalStateException("no constructor of SubscriptionInfo");
    }

    private static Object assignment(Class<?> type, int version, String content) throws Exception {
        boolean bare = content.equals("bare");
        String name = content.equals("named") ? "töpology" : null;
        List<Object> active = new ArrayList<>();
        Map<Object, Set<TopicPartition>> standby = new LinkedHashMap<>();
        Map<Object, Set<TopicPartition>> hosts = new LinkedHashMap<>();
        Map<Object, Set<TopicPartition>> standbyHosts = new LinkedHashMap<>();
        if (!bare) {
            active.addAll(List.of(task(0, 0, name), task(0, 0, name), task(0, 11, null), task(1, 0, name)));
            standby.put(task(1, 1, name), partitions("orders", 1, "payments", 1));
            standby.put(task(2, 0, null), partitions("app-counts-repartition", 0));
            hosts.put(host("stream-1.example", 8080), partitions("orders", 0, "orders", 11, "payments", 0));
            hosts.put(host("stream-2.example", 65535), partitions("payments", 1, "app-counts-repartition", 0));
            standbyHosts.put(host("stream-1.example", 8080), partitions("payments", 1, "clicks", 3));
        }
        int error = bare ? 0 : 3;
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            constructor.setAccessible(true);
            Class<?>[] parameters = constructor.getParameterTypes();
            if (parameters.length == 6 && parameters[1] == int.class) {
                return constructor.newInstance(version, common(version), active, standby, hosts, error);
            }
            if (parameters.length == 7 && parameters[1] == int.class) {
                int common = common(version);
                Object made = constructor.newInstance(version, common, active, standby, hosts, standbyHosts, error);
                if (!bare) {
                    type.getMethod("setNextRebalanceTime", long.class).invoke(made, 1_700_000_600_000L);
                }
                return made;
            }
        }
        throw new IllegalStateException("no constructor of AssignmentInfo");
    }

    /** What all members know: here one version more than is used, where versions are known. */
    private static int common(int version) {
        return version < 3 ? -1 : version + 1;
    }

    private static Object task(int subtopology, int partition, String name) throws Exception {
        Class<?> type = Class.forName("org.apache.kafka.streams.processor.TaskId");
        if (name == null) {
            return type.getConstructor(int.class, int.class).newInstance(subtopology, partition);
        }
        Constructor<?> named = type.getDeclaredConstructor(int.class, int.class, String.class);
        named.setAccessible(true);
        return named.newInstance(subtopology, partition, name);
    }

    private static Object host(String name, int port) throws Exception {
        return Class.forName("org.apache.kafka.streams.state.HostInfo")
            .getConstructor(String.class, int.class).newInstance(name, port);
    }

    private static Set<TopicPartition> partitions(Object... pairs) {
        Set<TopicPartition> partitions = new HashSet<>();
        for (int at = 0; at < pairs.length; at += 2) {
            partitions.add(new TopicPartition((String) pairs[at], (Integer) pairs[at + 1]));
        }
        return partitions;
    }

    private static void say(String kind, int version, String content, Class<?> type, Object info) throws Exception {
        ByteBuffer encoded = (ByteBuffer) type.getMethod("encode").invoke(info);
        encoded.rewind();
        byte[] bytes = new byte[encoded.remaining()];
        encoded.get(bytes);
        Object read = type.getMethod("decode", ByteBuffer.class).invoke(null, ByteBuffer.wrap(bytes));
        Map<String, String> fields = new TreeMap<>();
        for (Method getter : type.getMethods()) {
            boolean isField = getter.getParameterCount() == 0 && getter.getDeclaringClass() == type
                && !Set.of("encode", "hashCode", "toString").contains(getter.getName());
            if (isField) {
                fields.put(getter.getName(), text(getter.invoke(read)));
            }
        }
        List<String> parts = new ArrayList<>();
        fields.forEach((name, value) -> parts.add("\"" + name + "\": " + value));
        System.out.println("{\"kind\": \"" + kind + "\", \"version\": " + version + ", \"content\": \"" + content
            + "\", \"bytes\": \"" + HexFormat.of().formatHex(bytes) + "\", \"read\": {" + String.join(", ", parts) + "}}");
    }

    /** Java's objects as JSON: maps and sets sorted by the text of their keys, everything but numbers as text. */
    private static String text(Object value) {
        if (value == null || value instanceof Number) {
            return String.valueOf(value);
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, String> sorted = new TreeMap<>();
            map.forEach((key, element) -> sorted.put(label(key), text(element)));
            List<String> parts = new ArrayList<>();
            sorted.forEach((key, element) -> parts.add("\"" + key + "\": " + element));
            return "{" + String.join(", ", parts) + "}";
        }
        if (value instanceof Iterable<?> elements) {
            List<String> parts = new ArrayList<>();
            elements.forEach(element -> parts.add(text(element)));
            if (value instanceof Set) {
                parts.sort(null);
            }
            return "[" + String.join(", ", parts) + "]";
        }
        return "\"" + label(value) + "\"";
    }

    private static String label(Object value) {
        try {
            if (value.getClass().getSimpleName().equals("HostInfo")) {
                Object name = value.getClass().getMethod("host").invoke(value);
                return name + ":" + value.getClass().getMethod("port").invoke(value);
            }
            if (value.getClass().getSimpleName().equals("ProcessId")) {
                return String.valueOf(value.getClass().getMethod("id").invoke(value));
            }
        } catch (ReflectiveOperationException failed) {
            throw new IllegalStateException(failed);
        }
        return String.valueOf(value);
    }
}
