import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * What the AdminClient of the Kafka on the class path says of classic and consumer groups, as one line of JSON:
 * {@code {group: {state, protocol, coordinator, members: {id: {client, host, instance, owned}}, offsets}}}.
 * The arguments are the bootstrap server and the groups. It uses only what 3.5 has.
 */
public class Admin {
    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[0]);
        List<String> groups = List.of(args).subList(1, args.length);
        Map<String, Object> found = new TreeMap<>();
        try (AdminClient admin = AdminClient.create(properties)) {
            Map<String, ConsumerGroupDescription> described = admin.describeConsumerGroups(groups).all().get();
            for (Map.Entry<String, ConsumerGroupDescription> one : described.entrySet()) {
                Map<TopicPartition, OffsetAndMetadata> offsets =
                    admin.listConsumerGroupOffsets(one.getKey()).partitionsToOffsetAndMetadata().get();
                found.put(one.getKey(), group(one.getValue(), offsets));
            }
        }
        System.out.println(new ObjectMapper().writeValueAsString(found));
    }

    private static Map<String, Object> group(ConsumerGroupDescription group, Map<TopicPartition, OffsetAndMetadata> offsets) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("state", group.state().toString());
        fields.put("protocol", group.partitionAssignor());
        fields.put("coordinator", group.coordinator().id());
        Map<String, Object> members = new TreeMap<>();
        for (MemberDescription member : group.members()) {
            Map<String, Object> memberFields = new LinkedHashMap<>();
            memberFields.put("client", member.clientId());
            memberFields.put("host", member.host());
            memberFields.put("instance", member.groupInstanceId().orElse(null));
            memberFields.put("owned", byTopic(member.assignment().topicPartitions()));
            members.put(member.consumerId(), memberFields);
        }
        fields.put("members", members);
        List<Object> committed = new ArrayList<>();
        offsets.entrySet().stream()
            .filter(one -> one.getValue() != null)
            .sorted((one, other) -> one.getKey().toString().compareTo(other.getKey().toString()))
            .forEach(one -> committed.add(List.of(one.getKey().topic(), one.getKey().partition(), one.getValue().offset())));
        fields.put("offsets", committed);
        return fields;
    }

    private static Map<String, Collection<Integer>> byTopic(Collection<TopicPartition> partitions) {
        Map<String, Collection<Integer>> found = new TreeMap<>();
        for (TopicPartition one : partitions) {
            found.computeIfAbsent(one.topic(), topic -> new TreeSet<>()).add(one.partition());
        }
        return found;
    }
}
