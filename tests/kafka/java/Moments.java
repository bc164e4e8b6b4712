import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.kafka.common.utils.Utils;

/** What Kafka's tools make of times and durations: a line in, a line out, `-` for what they refuse. */
public class Moments {
    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(answer(line.substring(0, 1), line.substring(1)));
        }
    }

    private static String answer(String kind, String text) {
        try {
            if (kind.equals("t")) {
                return Long.toString(Utils.getDateTime(text));
            }
            Duration duration = Duration.parse(text);
            return duration.getSeconds() + " " + duration.getNano();
        } catch (Exception refused) {
            return "-";
        }
    }
}
