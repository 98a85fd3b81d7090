import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.apache.kafka.common.utils.internals.Exit;

/**
 * Runs the main methods of Kafka's tools, one after the other, in one JVM: a start takes longer than most tools.
 *
 * Reads lines of words in base64: class, standard input, arguments. Prints a line for each: status, output in base64.
 */
public class ToolServer {
    private static final long SECONDS_MAX = 120;

    private static final class Ended extends Error { }

    private static int status;
    private static byte[] printed;
    private static ByteArrayOutputStream output;

    public static void main(String[] arguments) throws Exception {
        PrintStream results = System.out;
        BufferedReader calls = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Exit.setExitProcedure((code, message) -> end(code));
        Exit.setHaltProcedure((code, message) -> end(code));
        Exit.setShutdownHookAdder((name, hook) -> { });
        for (String line = calls.readLine(); line != null; line = calls.readLine()) {
            String[] words = Arrays.stream(line.split(" ")).map(ToolServer::decoded).toArray(String[]::new);
            run(words[0], words[1], Arrays.copyOfRange(words, 2, words.length));
            results.println(status + " " + Base64.getEncoder().encodeToString(printed));
            results.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    private static void run(String name, String input, String[] arguments) throws Exception {
        output = new ByteArrayOutputStream();
        status = -1;
        PrintStream captured = new PrintStream(output, true, StandardCharsets.UTF_8);
        System.setOut(captured);
        System.setErr(captured);
        System.setIn(new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)));
        Thread tool = new Thread(() -> call(name, arguments), name);
        tool.setDaemon(true);
        tool.start();
        tool.join(SECONDS_MAX * 1000);
        if (tool.isAlive()) {
            captured.println("the tool has not ended");
            tool.interrupt();
        }
        finish(tool.isAlive() ? 124 : 0);
    }

    private static void call(String name, String[] arguments) {
        try {
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (Ended ended) {
            return;
        } catch (Throwable thrown) {
            Throwable cause = thrown.getCause() == null ? thrown : thrown.getCause();
            if (!(cause instanceof Ended)) {
                cause.printStackTrace();
                finish(1);
            }
        }
    }

    /** The first status counts, and what was printed before: a tool may catch what ends it. */
    private static synchronized void finish(int code) {
        if (status < 0) {
            status = code;
            printed = output.toByteArray();
        }
    }

    private static void end(int code) {
        finish(code);
        throw new Ended();
    }

    private static String decoded(String word) {
        return new String(Base64.getDecoder().decode(word.substring(1)), StandardCharsets.UTF_8);
    }
}
