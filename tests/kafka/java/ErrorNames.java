import org.apache.kafka.common.protocol.Errors;

/** Kafka's errors, one a line: code, class of the exception, message, with tabs between them. */
public class ErrorNames {
    public static void main(String[] args) {
        for (Errors error : Errors.values()) {
            if (error.exception() != null) {
                System.out.println(error.code() + "\t" + error.exception().getClass().getSimpleName() + "\t" + error.message());
            }
        }
    }
}
