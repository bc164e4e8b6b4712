import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * The custom assignors of the stories: a member's share is its weight. {@code tests/support/weighted_assignor.py} is the same for
 * the simulation and describes the bytes. Every call is reported when it returns or throws, with what it took and returned, to who
 * registered the member that {@code weighted.member} names; that member's state may change while it runs.
 */
public class WeightedAssignor implements ConsumerPartitionAssignor, Configurable {
    private static final int NEWEST = 2;
    /** By the name of a member. */
    private static final Map<String, Map<String, String>> STATES = new ConcurrentHashMap<>();
    private static final Map<String, BiConsumer<String, Map<String, Object>>> REPORTS = new ConcurrentHashMap<>();

    private String member;
    private int used = NEWEST;

    /** {@code weighted-cooperative}. */
    public static class Cooperative extends WeightedAssignor {
        @Override
        public String name() {
            return "weighted-cooperative";
        }

        @Override
        public List<RebalanceProtocol> supportedProtocols() {
            return List.of(RebalanceProtocol.COOPERATIVE);
        }

        @Override
        void withhold(Map<String, List<TopicPartition>> shares, Map<String, Subscription> members) {
            Map<TopicPartition, String> owners = new HashMap<>();
            members.forEach((id, subscription) -> subscription.ownedPartitions().forEach(one -> owners.put(one, id)));
            shares.forEach((id, share) -> share.removeIf(one -> !owners.getOrDefault(one, id).equals(id)));
        }
    }

    /** Of a member that is about to start. */
    static void register(String member, Map<String, String> state, BiConsumer<String, Map<String, Object>> report) {
        STATES.put(member, new ConcurrentHashMap<>(state));
        REPORTS.put(member, report);
    }

    static void change(String member, Map<String, String> state) {
        STATES.get(member).putAll(state);
    }

    @Override
    public void configure(Map<String, ?> configs) {
        member = (String) configs.get("weighted.member");
    }

    @Override
    public String name() {
        return "weighted";
    }

    /** Nothing calls it, but who does is reported. */
    @Override
    public short version() {
        return reported("version", new LinkedHashMap<>(), () -> (short) NEWEST);
    }

    @Override
    public ByteBuffer subscriptionUserData(Set<String> topics) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("topics", new TreeSet<>(topics));
        return reported("subscription_user_data", fields, () -> {
            maybeThrow("subscription_user_data");
            ByteBuffer data = written();
            fields.put("user_data", text(data));
            return data;
        });
    }

    private ByteBuffer written() {
        if (state("unreadable", "false").equals("true")) {
            return ByteBuffer.wrap(new byte[] {7});
        }
        int version = Math.min(Integer.parseInt(state("version", "" + NEWEST)), used);
        return written(version, Integer.parseInt(state("weight", "1")), state("note", ""));
    }

    private static ByteBuffer written(int version, int weight, String text) {
        byte[] note = text.getBytes(StandardCharsets.UTF_8);
        ByteBuffer data = ByteBuffer.allocate(version < NEWEST ? 2 : 6 + note.length).putShort((short) version);
        if (version >= NEWEST) {
            data.putInt(weight).put(note);
        }
        data.flip();
        return data;
    }

    @Override
    public GroupAssignment assign(Cluster cluster, GroupSubscription group) {
        Map<String, Object> fields = new LinkedHashMap<>();
        Map<String, Map<String, Object>> reported = new TreeMap<>();
        fields.put("members", reported);
        Map<String, Subscription> members = group.groupSubscription();
        members.forEach((id, subscription) -> {
            Map<String, Object> share = new LinkedHashMap<>();
            share.put("sent", text(subscription.userData()));
            reported.put(id, share);
        });
        return reported("assign", fields, () -> {
            Map<String, Load> loads = new TreeMap<>();
            members.forEach((id, subscription) -> loads.put(id, Load.read(subscription.userData())));
            if (loads.values().stream().anyMatch(load -> load.note.equals("refuse"))) {
                throw new IllegalStateException("assign is to throw");
            }
            int version = loads.values().stream().mapToInt(load -> load.version).min().orElse(NEWEST);
            Map<String, Integer> weights = new TreeMap<>();
            loads.forEach((id, load) -> weights.put(id, version < NEWEST ? 1 : load.weight));
            int total = weights.values().stream().mapToInt(Integer::intValue).sum();
            Map<String, List<TopicPartition>> shares = shares(cluster, members, weights);
            Map<String, ByteBuffer> sent = new HashMap<>();
            shares.forEach((id, share) -> sent.put(id, written(version, total, "" + share.size())));
            withhold(shares, members);
            Map<String, Assignment> assignments = new HashMap<>();
            shares.forEach((id, share) -> {
                ByteBuffer data = sent.get(id);
                assignments.put(id, new Assignment(share, data.duplicate()));
                reported.get(id).put("partitions", byTopic(share));
                reported.get(id).put("user_data", text(data));
            });
            return new GroupAssignment(assignments);
        });
    }

    /** Removes what another member still owns. An eager member owns nothing. */
    void withhold(Map<String, List<TopicPartition>> shares, Map<String, Subscription> members) { }

    private static Map<String, List<TopicPartition>> shares(Cluster cluster, Map<String, Subscription> members, Map<String, Integer> weights) {
        Map<String, List<TopicPartition>> shares = new TreeMap<>();
        Set<String> topics = new TreeSet<>();
        members.forEach((id, subscription) -> {
            shares.put(id, new ArrayList<>());
            topics.addAll(subscription.topics());
        });
        for (String topic : topics) {
            List<PartitionInfo> partitions = cluster.partitionsForTopic(topic);
            List<String> receivers = shares.keySet().stream().filter(id -> members.get(id).topics().contains(topic)).toList();
            for (int number = 0; number < partitions.size(); number++) {
                String best = receivers.get(0);
                for (String id : receivers) {
                    if ((shares.get(id).size() + 1) * weights.get(best) < (shares.get(best).size() + 1) * weights.get(id)) {
                        best = id;
                    }
                }
                shares.get(best).add(new TopicPartition(topic, number));
            }
        }
        return shares;
    }

    @Override
    public void onAssignment(Assignment assignment, ConsumerGroupMetadata metadata) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("partitions", byTopic(assignment.partitions()));
        fields.put("user_data", text(assignment.userData()));
        fields.put("generation", metadata.generationId());
        fields.put("member", metadata.memberId());
        fields.put("instance", metadata.groupInstanceId().orElse(null));
        reported("on_assignment", fields, () -> {
            maybeThrow("on_assignment");
            used = Load.read(assignment.userData()).version;
            return null;
        });
    }

    private <T> T reported(String method, Map<String, Object> fields, java.util.function.Supplier<T> call) {
        try {
            return call.get();
        } catch (RuntimeException error) {
            fields.put("error", error.getMessage());
            throw error;
        } finally {
            REPORTS.get(member).accept(method, fields);
        }
    }

    private void maybeThrow(String method) {
        if (state("throws", "").equals(method)) {
            throw new IllegalStateException(method + " is to throw");
        }
    }

    private String state(String name, String otherwise) {
        return STATES.get(member).getOrDefault(name, otherwise);
    }

    private static String text(ByteBuffer data) {
        if (data == null) {
            return null;
        }
        byte[] bytes = new byte[data.remaining()];
        data.duplicate().get(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }

    private static Map<String, Set<Integer>> byTopic(List<TopicPartition> partitions) {
        Map<String, Set<Integer>> found = new TreeMap<>();
        partitions.forEach(one -> found.computeIfAbsent(one.topic(), topic -> new TreeSet<>()).add(one.partition()));
        return found;
    }

    private record Load(int version, int weight, String note) {
        static Load read(ByteBuffer data) {
            ByteBuffer left = data == null ? ByteBuffer.allocate(0) : data.duplicate();
            if (left.remaining() < 2) {
                return new Load(NEWEST, 1, "");
            }
            int version = left.getShort();
            if (version < NEWEST) {
                return new Load(version, 1, "");
            }
            if (left.remaining() < 4) {
                return new Load(NEWEST, 1, "");
            }
            int weight = left.getInt();
            byte[] note = new byte[left.remaining()];
            left.get(note);
            return new Load(version, weight, new String(note, StandardCharsets.UTF_8));
        }
    }
}
