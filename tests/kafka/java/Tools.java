import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.common.utils.*;
// 4.4 moved Exit there.
import org.apache.kafka.common.utils.internals.*;

/**
 * Kafka's own command line tools, one call after another in one JVM: starting the second one costs no JVM.
 *
 * <p>A call is a line of JSON on stdin, {@code {"main": CLASS, "args": [...], "stdin": TEXT}}; its answer is a line of JSON on
 * stdout, {@code {"status", "stdout", "stderr"}}. The end of stdin ends it.
 */
public class Tools {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Thrown where a tool would end the JVM. */
    private static final class Ended extends Error {}

    /** What was said when the tool would first have ended the JVM; null while it has not. */
    private static Map<String, Object> end;

    private static ByteArrayOutputStream said;
    private static ByteArrayOutputStream complained;

    public static void main(String[] args) throws Exception {
        Exit.setExitProcedure((status, message) -> exit(status));
        Exit.setHaltProcedure((status, message) -> exit(status));
        PrintStream answers = System.out;
        BufferedReader calls = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = calls.readLine(); line != null; line = calls.readLine()) {
            answers.println(JSON.writeValueAsString(run(JSON.readTree(line))));
            answers.flush();
        }
    }

    private static Map<String, Object> run(JsonNode call) throws Exception {
        String[] args = JSON.treeToValue(call.get("args"), String[].class);
        PrintStream stdout = System.out;
        PrintStream stderr = System.err;
        end = null;
        said = new ByteArrayOutputStream();
        complained = new ByteArrayOutputStream();
        System.setIn(new ByteArrayInputStream(call.get("stdin").asText().getBytes(StandardCharsets.UTF_8)));
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(complained, true, StandardCharsets.UTF_8));
        int status = 0;
        try {
            Class.forName(call.get("main").asText()).getMethod("main", String[].class).invoke(null, (Object) args);
        } catch (InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Ended)) {
                status = 1;
                thrown.getCause().printStackTrace();
            }
        } finally {
            System.setOut(stdout);
            System.setErr(stderr);
        }
        return end == null ? answer(status) : end;
    }

    /** Some tools catch everything, the end of the JVM too, and say more: that is never said by a tool that has ended. */
    private static void exit(int status) {
        if (end == null) {
            end = answer(status);
        }
        throw new Ended();
    }

    private static Map<String, Object> answer(int status) {
        return Map.of(
            "status", status,
            "stdout", said.toString(StandardCharsets.UTF_8),
            "stderr", complained.toString(StandardCharsets.UTF_8));
    }
}
