import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.message.KRaftVersionRecord;
import org.apache.kafka.common.message.LeaderChangeMessage;
import org.apache.kafka.common.message.SnapshotFooterRecord;
import org.apache.kafka.common.message.SnapshotHeaderRecord;
import org.apache.kafka.common.message.VotersRecord;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.utils.*;
// 4.4 moved ByteBufferOutputStream there.
import org.apache.kafka.common.utils.internals.*;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.checkpoint.LeaderEpochCheckpointFile;
import org.apache.kafka.storage.internals.epoch.LeaderEpochFileCache;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogSegment;
import org.apache.kafka.storage.internals.log.ProducerStateManager;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;

/**
 * Kafka's own record batches and segments. Each line of stdin is a question in JSON, each line of stdout its answer.
 *
 * <p>`{"write": [BATCH]}` answers `{"bytes"}`, `{"read": BYTES}` answers `{"batches": [BATCH]}`, `{"recover": DIRECTORY,
 * "base_offset"}` runs the recovery of the segment there, which writes its indexes again, and answers `{"truncated"}`.
 * An exception of Kafka is returned as `{"error"}`. Bytes are base64.
 */
public final class Batches {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int BUFFER_BYTES = 1 << 16;

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode question = JSON.readTree(line);
            ObjectNode answer = JSON.createObjectNode();
            try {
                if (question.has("write")) {
                    answer.put("bytes", write(question.get("write")));
                } else if (question.has("read")) {
                    answer.set("batches", read(bytes(question.get("read"))));
                } else {
                    answer.put("truncated", recover(question));
                }
            } catch (Exception error) {
                answer.put("error", error.toString());
            }
            System.out.println(JSON.writeValueAsString(answer));
        }
    }

    private static String write(JsonNode batches) {
        var out = new ByteBufferOutputStream(BUFFER_BYTES);
        for (JsonNode batch : batches) {
            out.write(writeBatch(batch));
        }
        ByteBuffer written = out.buffer().flip();
        byte[] content = new byte[written.remaining()];
        written.get(content);
        return Base64.getEncoder().encodeToString(content);
    }

    private static ByteBuffer writeBatch(JsonNode batch) {
        long offset = batch.get("base_offset").asLong();
        long timestamp = batch.path("timestamp").asLong();
        int epoch = batch.get("leader_epoch").asInt();
        long producerId = batch.path("producer_id").asLong(-1);
        short producerEpoch = (short) batch.path("producer_epoch").asInt(-1);
        ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
        switch (batch.get("kind").asText()) {
            case "end of transaction":
                var type = ControlRecordType.valueOf(batch.get("type").asText());
                var marker = new EndTransactionMarker(type, batch.get("coordinator_epoch").asInt());
                return MemoryRecords.withEndTransactionMarker(
                    offset, timestamp, epoch, producerId, producerEpoch, marker).buffer();
            case "leader change":
                var change = new LeaderChangeMessage().setLeaderId(1);
                return MemoryRecords.withLeaderChangeMessage(offset, timestamp, epoch, buffer, change).buffer();
            case "snapshot header":
                var header = new SnapshotHeaderRecord();
                return MemoryRecords.withSnapshotHeaderRecord(offset, timestamp, epoch, buffer, header).buffer();
            case "snapshot footer":
                var footer = new SnapshotFooterRecord();
                return MemoryRecords.withSnapshotFooterRecord(offset, timestamp, epoch, buffer, footer).buffer();
            case "KRaft version":
                var version = new KRaftVersionRecord().setKRaftVersion((short) 1);
                return MemoryRecords.withKRaftVersionRecord(offset, timestamp, epoch, buffer, version).buffer();
            case "KRaft voters":
                return MemoryRecords.withVotersRecord(offset, timestamp, epoch, buffer, new VotersRecord()).buffer();
            case "emptied":
                DefaultRecordBatch.writeEmptyHeader(
                    buffer, (byte) 2, producerId, producerEpoch, batch.get("base_sequence").asInt(), offset,
                    offset + batch.get("last_offset_delta").asLong(), epoch, TimestampType.CREATE_TIME, timestamp,
                    batch.get("transactional").asBoolean(), false);
                return buffer.flip();
            default:
                return writeRecords(batch);
        }
    }

    private static ByteBuffer writeRecords(JsonNode batch) {
        boolean logAppendTime = batch.path("log_append_time").asBoolean();
        var builder = new MemoryRecordsBuilder(
            new ByteBufferOutputStream(BUFFER_BYTES),
            (byte) batch.path("magic").asInt(2),
            Compression.of(batch.get("codec").asText()).build(),
            logAppendTime ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME,
            batch.get("base_offset").asLong(),
            batch.path("timestamp").asLong(-1),
            batch.path("producer_id").asLong(-1),
            (short) batch.path("producer_epoch").asInt(-1),
            batch.path("base_sequence").asInt(-1),
            batch.path("transactional").asBoolean(),
            false,
            batch.get("leader_epoch").asInt(),
            Integer.MAX_VALUE,
            batch.path("delete_horizon").asLong(-1));
        for (JsonNode record : batch.get("records")) {
            builder.appendWithOffset(
                record.get("offset").asLong(), record.get("timestamp").asLong(), bytes(record.get("key")),
                bytes(record.get("value")), headers(record.path("headers")));
        }
        if (batch.has("last_offset_delta")) {
            builder.overrideLastOffset(batch.get("base_offset").asLong() + batch.get("last_offset_delta").asLong());
        }
        return builder.build().buffer();
    }

    private static Header[] headers(JsonNode headers) {
        List<Header> all = new ArrayList<>();
        for (JsonNode header : headers) {
            all.add(new RecordHeader(header.get(0).asText(), bytes(header.get(1))));
        }
        return all.toArray(new Header[0]);
    }

    private static ArrayNode read(byte[] content) {
        ArrayNode batches = JSON.createArrayNode();
        int seen = 0;
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(content)).batches()) {
            batch.ensureValid();
            seen += batch.sizeInBytes();
            ObjectNode shown = batches.addObject();
            shown.put("base_offset", batch.baseOffset());
            shown.put("last_offset", batch.lastOffset());
            shown.put("leader_epoch", batch.partitionLeaderEpoch());
            shown.put("codec", batch.compressionType().name);
            shown.put("log_append_time", batch.timestampType() == TimestampType.LOG_APPEND_TIME);
            shown.put("transactional", batch.isTransactional());
            shown.put("control", batch.isControlBatch());
            batch.deleteHorizonMs().ifPresentOrElse(
                horizon -> shown.put("delete_horizon_ms", horizon), () -> shown.putNull("delete_horizon_ms"));
            shown.put("max_timestamp", batch.maxTimestamp());
            shown.put("producer_id", batch.producerId());
            shown.put("producer_epoch", batch.producerEpoch());
            shown.put("base_sequence", batch.baseSequence());
            shown.put("last_sequence", batch.lastSequence());
            shown.put("count", batch.countOrNull());
            shown.put("size", batch.sizeInBytes());
            ArrayNode records = shown.putArray("records");
            for (Record record : batch) {
                records.add(show(record, batch.isControlBatch()));
            }
        }
        if (seen != content.length) {
            throw new IllegalArgumentException((content.length - seen) + " bytes are left");
        }
        return batches;
    }

    private static ObjectNode show(Record record, boolean control) {
        ObjectNode shown = JSON.createObjectNode();
        shown.put("offset", record.offset());
        shown.put("timestamp", record.timestamp());
        shown.put("sequence", record.sequence());
        shown.set("key", content(record.hasKey() ? record.key() : null));
        shown.set("value", content(record.hasValue() ? record.value() : null));
        ArrayNode headers = shown.putArray("headers");
        for (Header header : record.headers()) {
            byte[] value = header.value();
            headers.addArray().add(header.key()).add(content(value == null ? null : ByteBuffer.wrap(value)));
        }
        if (control) {
            ControlRecordType type = ControlRecordType.parse(record.key());
            shown.put("type", type.name());
            if (type == ControlRecordType.ABORT || type == ControlRecordType.COMMIT) {
                shown.put("coordinator_epoch", EndTransactionMarker.deserialize(record).coordinatorEpoch());
            }
        }
        return shown;
    }

    private static int recover(JsonNode question) throws Exception {
        var directory = new File(question.get("recover").asText());
        var partition = new TopicPartition("recovered", 0);
        var config = new LogConfig(Map.of());
        var segment = LogSegment.open(
            directory, question.get("base_offset").asLong(), config, Time.SYSTEM, true, 0, false, "");
        var producers = new ProducerStateManager(
            partition, directory, 60_000, new ProducerStateManagerConfig(Integer.MAX_VALUE, false), Time.SYSTEM);
        var scheduler = new KafkaScheduler(1);
        scheduler.startup();
        var checkpoint = new LeaderEpochCheckpointFile(
            new File(directory, "leader-epoch-checkpoint"), new LogDirFailureChannel(1));
        int truncated = segment.recover(producers, new LeaderEpochFileCache(partition, checkpoint, scheduler));
        segment.close();
        scheduler.shutdown();
        return truncated;
    }

    private static JsonNode content(ByteBuffer buffer) {
        if (buffer == null) {
            return JSON.nullNode();
        }
        byte[] content = new byte[buffer.remaining()];
        buffer.duplicate().get(content);
        return JSON.getNodeFactory().textNode(Base64.getEncoder().encodeToString(content));
    }

    private static byte[] bytes(JsonNode text) {
        return text == null || text.isNull() ? null : Base64.getDecoder().decode(text.asText());
    }
}
