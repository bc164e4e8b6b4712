import java.util.Map;
import java.util.List;
import java.util.Set;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerExtensionsValidatorCallback;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;

/** A broker's handler that takes every token which Kafka's own parsing of the message lets through. */
public class AnyToken implements AuthenticateCallbackHandler {
    @Override
    public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> entries) { }

    @Override
    public void handle(Callback[] callbacks) throws UnsupportedCallbackException {
        for (Callback callback : callbacks) {
            if (callback instanceof OAuthBearerValidatorCallback asked) {
                asked.token(accepted(asked.tokenValue()));
            } else if (callback instanceof OAuthBearerExtensionsValidatorCallback asked) {
                asked.inputExtensions().map().keySet().forEach(asked::valid);
            } else {
                throw new UnsupportedCallbackException(callback);
            }
        }
    }

    private static OAuthBearerToken accepted(String value) {
        long now = System.currentTimeMillis();
        return new OAuthBearerToken() {
            @Override
            public String value() {
                return value;
            }

            @Override
            public Set<String> scope() {
                return Set.of();
            }

            @Override
            public long lifetimeMs() {
                return now + 600_000;
            }

            @Override
            public String principalName() {
                return "anybody";
            }

            @Override
            public Long startTimeMs() {
                return now;
            }
        };
    }

    @Override
    public void close() { }
}
