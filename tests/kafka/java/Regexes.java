import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * RE2/J, as the broker calls it (GroupMetadataManager.throwIfRegularExpressionIsInvalid, TopicRegexResolver).
 *
 * <p>Reads lines of base64 in UTF-8: `pattern P` compiles P, `topic T` is a name that later patterns are matched with.
 * Answers a pattern with `ok`, one digit per topic, or with `no`, the error in base64.
 */
public final class Regexes {
    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var topics = new java.util.ArrayList<String>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            String text = new String(Base64.getDecoder().decode(words[1]), StandardCharsets.UTF_8);
            if (words[0].equals("topic")) {
                topics.add(text);
                continue;
            }
            try {
                Pattern pattern = Pattern.compile(text);
                var matched = new StringBuilder();
                for (String topic : topics) {
                    matched.append(pattern.matcher(topic).matches() ? '1' : '0');
                }
                System.out.println("ok " + matched);
            } catch (PatternSyntaxException error) {
                byte[] said = error.getMessage().getBytes(StandardCharsets.UTF_8);
                System.out.println("no " + Base64.getEncoder().encodeToString(said));
            } catch (RuntimeException | StackOverflowError | OutOfMemoryError error) {
                byte[] said = error.toString().getBytes(StandardCharsets.UTF_8);
                System.out.println("threw " + Base64.getEncoder().encodeToString(said));
            }
        }
    }
}
