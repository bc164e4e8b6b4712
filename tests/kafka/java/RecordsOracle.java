import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordHelpers;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.OffsetAndMetadata;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupCurrentMemberAssignmentValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMemberValue;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordJsonConverters;
import org.apache.kafka.coordinator.group.generated.CoordinatorRecordType;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.server.common.ApiMessageAndVersion;
import org.slf4j.LoggerFactory;

/**
 * What Kafka makes of the records of __consumer_offsets: a question a line on stdin (JSON, see
 * tests/wire/log/records_oracle.py), an answer a line on stdout.
 */
public class RecordsOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();
    private static final GroupCoordinatorRecordSerde SERDE = new GroupCoordinatorRecordSerde();

    public static void main(String[] args) throws Exception {
        JSON.getFactory().configure(JsonGenerator.Feature.ESCAPE_NON_ASCII, true);
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.US_ASCII);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        DumpTool tool = new DumpTool();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode question = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            switch (question.get("do").asText()) {
                case "types" -> types(answer);
                case "dump" -> tool.dump(question, answer);
                case "encode" -> encode(question, answer);
                case "again" -> again(question, answer);
                default -> throw new IllegalArgumentException(line);
            }
            out.println(JSON.writeValueAsString(answer));
        }
        out.flush();
    }

    private static void types(ObjectNode answer) {
        for (CoordinatorRecordType type : CoordinatorRecordType.values()) {
            ApiMessage value = type.newRecordValue();
            answer.putObject(Short.toString(type.id()))
                .put("key", type.newRecordKey().getClass().getSimpleName())
                .put("value", value.getClass().getSimpleName())
                .put("oldest", value.lowestSupportedVersion())
                .put("newest", value.highestSupportedVersion());
        }
    }

    /** Bytes of JSON fields. */
    private static void encode(JsonNode question, ObjectNode answer) {
        short type = (short) question.get("type").asInt();
        short version = (short) question.get("version").asInt();
        ApiMessage key = CoordinatorRecordJsonConverters.readRecordKeyFromJson(question.get("key"), type);
        ApiMessage value = CoordinatorRecordJsonConverters.readRecordValueFromJson(question.get("value"), type, version);
        put(answer, CoordinatorRecord.record(key, new ApiMessageAndVersion(value, version)));
    }

    /** The record that the coordinator would write of what it has read; some types only. */
    private static void again(JsonNode question, ObjectNode answer) {
        CoordinatorRecord read = SERDE.deserialize(bytes(question.get("key")), bytes(question.get("value")));
        ApiMessage value = read.value().message();
        if (value instanceof OffsetCommitValue offset) {
            put(answer, GroupCoordinatorRecordHelpers.newOffsetCommitRecord("g", "t", 0, OffsetAndMetadata.fromRecord(0, offset)));
        } else if (value instanceof ConsumerGroupMemberMetadataValue member) {
            put(answer, GroupCoordinatorRecordHelpers.newConsumerGroupMemberSubscriptionRecord(
                "g", new ConsumerGroupMember.Builder("m").updateWith(member).build()));
        } else if (value instanceof ConsumerGroupCurrentMemberAssignmentValue current) {
            put(answer, GroupCoordinatorRecordHelpers.newConsumerGroupCurrentAssignmentRecord(
                "g", new ConsumerGroupMember.Builder("m")
                    .updateWith(LoggerFactory.getLogger(RecordsOracle.class), "g", current).build()));
        } else if (value instanceof ConsumerGroupTargetAssignmentMemberValue target) {
            Map<Uuid, Set<Integer>> partitions = new HashMap<>();
            Assignment.fromRecord(target).partitions().forEach((topic, numbers) -> partitions.put(topic, new HashSet<>(numbers)));
            put(answer, GroupCoordinatorRecordHelpers.newConsumerGroupTargetAssignmentRecord("g", "m", partitions));
        } else {
            throw new IllegalArgumentException(value.getClass().getSimpleName());
        }
    }

    private static void put(ObjectNode answer, CoordinatorRecord record) {
        byte[] value = SERDE.serializeValue(record);
        answer.put("key", HEX.formatHex(SERDE.serializeKey(record)));
        answer.put("value", value == null ? null : HEX.formatHex(value));
    }

    private static ByteBuffer bytes(JsonNode hex) {
        return hex.isNull() ? null : ByteBuffer.wrap(HEX.parseHex(hex.asText()));
    }

    /** kafka-dump-log's own parser of these records. */
    private static final class DumpTool {
        private final Object parser;
        private final Method parse;
        private Method key;
        private Method payload;

        DumpTool() throws Exception {
            Class<?> type = Class.forName("org.apache.kafka.tools.DumpLogSegments$OffsetsMessageParser");
            Constructor<?> made = type.getDeclaredConstructor();
            made.setAccessible(true);
            parser = made.newInstance();
            parse = type.getMethod("parse", Record.class);
            parse.setAccessible(true);
        }

        /** What the tool prints behind key and payload, and the bytes that Kafka makes of what it read. */
        void dump(JsonNode question, ObjectNode answer) throws Exception {
            ByteBuffer keyBytes = bytes(question.get("key"));
            ByteBuffer valueBytes = bytes(question.get("value"));
            MemoryRecords batch = MemoryRecords.withRecords(
                Compression.NONE, new SimpleRecord(0L, keyBytes == null ? null : keyBytes.array(), valueBytes == null ? null : valueBytes.array()));
            Object result = parse.invoke(parser, batch.records().iterator().next());
            if (key == null) {
                key = accessor(result, "key");
                payload = accessor(result, "value");
            }
            answer.put("key", (String) ((Optional<?>) key.invoke(result)).orElse(null));
            answer.put("payload", (String) ((Optional<?>) payload.invoke(result)).orElse(null));
            ObjectNode rewritten = answer.putObject("rewritten");
            try {
                put(rewritten, SERDE.deserialize(keyBytes, valueBytes));
            } catch (RuntimeException ex) {
                answer.putNull("rewritten");
            }
        }

        private static Method accessor(Object result, String name) throws Exception {
            Method method = result.getClass().getDeclaredMethod(name);
            method.setAccessible(true);
            return method;
        }
    }
}
