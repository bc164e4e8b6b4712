import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AccessControlEntryFilter;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourcePatternFilter;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

/** What Kafka's StandardAuthorizer answers: entries and questions in, a line of JSON; answers out. */
public class AuthorizerOracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
        }
    }

    private static ObjectNode answer(JsonNode question) throws Exception {
        ObjectNode answer = JSON.createObjectNode();
        try (StandardAuthorizer authorizer = new StandardAuthorizer()) {
            authorizer.configure(Map.of(
                "node.id", "1",
                StandardAuthorizer.SUPER_USERS_CONFIG, question.get("super_users").asText(),
                StandardAuthorizer.ALLOW_EVERYONE_IF_NO_ACL_IS_FOUND_CONFIG, question.get("open").asText()));
            authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
            authorizer.completeInitialLoad();
            List<StandardAcl> acls = new ArrayList<>();
            for (JsonNode acl : question.get("acls")) {
                acls.add(acl(acl));
                authorizer.addAcl(Uuid.randomUuid(), acls.get(acls.size() - 1));
            }
            ArrayNode allowed = answer.putArray("allowed");
            for (JsonNode asked : question.get("actions")) {
                ResourceType type = ResourceType.fromCode((byte) asked.get("resource_type").asInt());
                AclOperation operation = AclOperation.fromCode((byte) asked.get("operation").asInt());
                AuthorizableRequestContext context =
                    context(asked.get("principal").asText(), InetAddress.getByName(asked.get("host").asText()));
                AuthorizationResult result;
                if (asked.get("name").isNull()) {
                    result = authorizer.authorizeByResourceType(context, operation, type);
                } else {
                    ResourcePattern resource = new ResourcePattern(type, asked.get("name").asText(), PatternType.LITERAL);
                    result = authorizer.authorize(context, List.of(new Action(operation, resource, 1, false, false))).get(0);
                }
                allowed.add(result == AuthorizationResult.ALLOWED);
            }
            ArrayNode matching = answer.putArray("matching");
            for (JsonNode asked : question.get("filters")) {
                AclBindingFilter filter = filter(asked);
                ArrayNode found = matching.addArray();
                for (int i = 0; i < acls.size(); i++) {
                    if (filter.matches(acls.get(i).toBinding())) {
                        found.add(i);
                    }
                }
            }
        }
        return answer;
    }

    private static StandardAcl acl(JsonNode acl) {
        return new StandardAcl(
            ResourceType.fromCode((byte) acl.get("resource_type").asInt()),
            acl.get("name").asText(),
            PatternType.fromCode((byte) acl.get("pattern").asInt()),
            acl.get("principal").asText(),
            acl.get("host").asText(),
            AclOperation.fromCode((byte) acl.get("operation").asInt()),
            AclPermissionType.fromCode((byte) acl.get("permission").asInt()));
    }

    private static AclBindingFilter filter(JsonNode asked) {
        return new AclBindingFilter(
            new ResourcePatternFilter(
                ResourceType.fromCode((byte) asked.get("resource_type").asInt()),
                text(asked.get("name")),
                PatternType.fromCode((byte) asked.get("pattern").asInt())),
            new AccessControlEntryFilter(
                text(asked.get("principal")),
                text(asked.get("host")),
                AclOperation.fromCode((byte) asked.get("operation").asInt()),
                AclPermissionType.fromCode((byte) asked.get("permission").asInt())));
    }

    private static String text(JsonNode value) {
        return value.isNull() ? null : value.asText();
    }

    private static AuthorizableRequestContext context(String principal, InetAddress address) {
        String[] parts = principal.split(":", 2);
        KafkaPrincipal parsed = new KafkaPrincipal(parts[0], parts[1]);
        return new AuthorizableRequestContext() {
            public String listenerName() {
                return "PLAINTEXT";
            }

            public SecurityProtocol securityProtocol() {
                return SecurityProtocol.PLAINTEXT;
            }

            public KafkaPrincipal principal() {
                return parsed;
            }

            public InetAddress clientAddress() {
                return address;
            }

            public int requestType() {
                return 0;
            }

            public int requestVersion() {
                return 0;
            }

            public String clientId() {
                return "oracle";
            }

            public int correlationId() {
                return 0;
            }
        };
    }
}
