import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;

/**
 * The bytes of a message as Kafka writes it: a question a line on stdin, {@code {"name": "DeleteGroupsResponse",
 * "version": 3, "fields": {…}}} with the fields as Kafka's JSON has them, an answer a line on stdout, {@code {"bytes": HEX}}.
 */
public class Messages {
    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = json.readTree(line);
            short version = (short) asked.get("version").asInt();
            Class<?> converter = Class.forName(
                "org.apache.kafka.common.message." + asked.get("name").asText() + "DataJsonConverter");
            Message message = (Message) converter.getMethod("read", JsonNode.class, short.class)
                .invoke(null, asked.get("fields"), version);
            ByteBufferAccessor written = MessageUtil.toByteBufferAccessor(message, version);
            byte[] bytes = new byte[written.buffer().remaining()];
            written.buffer().get(bytes);
            ObjectNode answer = json.createObjectNode();
            answer.put("bytes", HexFormat.of().formatHex(bytes));
            System.out.println(answer);
        }
    }
}
