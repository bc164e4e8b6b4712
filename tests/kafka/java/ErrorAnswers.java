import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;

/**
 * How Kafka refuses a request: a question a line on stdin, {@code {"key": 12, "version": 4, "request": HEX, "code": 16}}, an
 * answer a line on stdout, {@code {"bytes": HEX}}: the body of the response; or {@code {"unreadable": WHY}}.
 */
public class ErrorAnswers {
    public static void main(String[] args) throws Exception {
        ObjectMapper json = new ObjectMapper();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode asked = json.readTree(line);
            short version = (short) asked.get("version").asInt();
            ObjectNode answer = json.createObjectNode();
            try {
                byte[] bytes = HexFormat.of().parseHex(asked.get("request").asText());
                AbstractResponse response = AbstractRequest
                    .parseRequest(ApiKeys.forId(asked.get("key").asInt()), version,
                        new ByteBufferAccessor(ByteBuffer.wrap(bytes)))
                    .request.getErrorResponse(Errors.forCode((short) asked.get("code").asInt()).exception());
                ByteBufferAccessor written = MessageUtil.toByteBufferAccessor(response.data(), version);
                byte[] out = new byte[written.buffer().remaining()];
                written.buffer().get(out);
                answer.put("bytes", HexFormat.of().formatHex(out));
            } catch (RuntimeException error) {
                answer.put("unreadable", error.toString());
            }
            System.out.println(answer);
        }
    }
}
