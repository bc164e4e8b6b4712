import com.google.re2j.Pattern;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.BitSet;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What the broker's engine, RE2/J, and the client's, java.util.regex, say of patterns and which topics they match whole.
 *
 * <p>Reads lines of base64 in UTF-8: `topic T` is a name to match, `pattern P` is compiled by both. Answers a pattern
 * with RE2/J's word and Java's, each `ok` and the topics matched as bits in base64, or `no` and the error in base64, or
 * `slow` where Java read the names too often.
 */
public final class RegexEngines {
    private static final long PATIENCE = 2_000_000;

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var topics = new ArrayList<String>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            String text = new String(Base64.getDecoder().decode(words[1]), StandardCharsets.UTF_8);
            if (words[0].equals("topic")) {
                topics.add(text);
                continue;
            }
            System.out.println(
                    said(text, topics, RegexEngines::re2j) + " " + said(text, topics, RegexEngines::java));
        }
    }

    private static Predicate<String> re2j(String text) {
        Pattern pattern = Pattern.compile(text);
        return topic -> pattern.matcher(topic).matches();
    }

    private static Predicate<String> java(String text) {
        var pattern = java.util.regex.Pattern.compile(text);
        return topic -> pattern.matcher(new Counted(topic)).matches();
    }

    private static String said(String text, List<String> topics, Function<String, Predicate<String>> engine) {
        try {
            Predicate<String> matches = engine.apply(text);
            var matched = new BitSet();
            for (int i = 0; i < topics.size(); i++) {
                matched.set(i, matches.test(topics.get(i)));
            }
            return "ok " + Base64.getEncoder().encodeToString(matched.toByteArray());
        } catch (TooSlow slow) {
            return "slow -";
        } catch (RuntimeException | StackOverflowError | OutOfMemoryError error) {
            String said = error.getMessage() == null ? error.toString() : error.getMessage();
            byte[] message = said.getBytes(StandardCharsets.UTF_8);
            return "no " + Base64.getEncoder().encodeToString(message);
        }
    }

    private static final class TooSlow extends RuntimeException {}

    /** A name that loses its patience with a pattern that backtracks without end. */
    private static final class Counted implements CharSequence {
        private final String text;
        private long left = PATIENCE;

        Counted(String text) {
            this.text = text;
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public char charAt(int index) {
            if (--left < 0) {
                throw new TooSlow();
            }
            return text.charAt(index);
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }
    }
}
