import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

/** What ssl.principal.mapping.rules make of names: rules and a name in, a line of JSON; the name out, or null. */
public class PrincipalOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonNode asked = JSON.readTree(line);
            String name;
            try {
                name = SslPrincipalMapper.fromRules(asked.get("rules").asText()).getName(asked.get("name").asText());
            } catch (IOException noRule) {
                name = null;
            }
            System.out.println(JSON.writeValueAsString(Collections.singletonMap("name", name)));
        }
    }
}
