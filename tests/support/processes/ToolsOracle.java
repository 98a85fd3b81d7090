// Kafka's command line tools, many times in one JVM. Each line is a main class and arguments, in base64; "-" is an
// empty one. Prints "verdict<TAB>STATUS<TAB>STANDARD-OUTPUT<TAB>STANDARD-ERROR" for each, both in base64.

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.security.Permission;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

public class ToolsOracle {
    private static final PrintStream OUT = System.out;
    private static Integer status;

    @SuppressWarnings("removal")
    public static void main(String[] arguments) throws Exception {
        System.setSecurityManager(new SecurityManager() {
            @Override
            public void checkPermission(Permission permission) { }

            @Override
            public void checkPermission(Permission permission, Object context) { }

            @Override
            public void checkExit(int code) {
                if (status == null) {
                    status = code;
                }
                throw new SecurityException("exit");
            }
        });
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            List<String> words = decoded(line.split(" "));
            OUT.println(verdict(words.get(0), words.subList(1, words.size()).toArray(new String[0])));
        }
        OUT.flush();
        Runtime.getRuntime().halt(0);
    }

    private static String verdict(String mainClass, String[] arguments) throws Exception {
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        PrintStream error = new PrintStream(errors, true, StandardCharsets.UTF_8);
        System.setOut(new PrintStream(output, true, StandardCharsets.UTF_8));
        System.setErr(error);
        status = null;
        try {
            Class.forName(mainClass).getMethod("main", String[].class).invoke(null, (Object) arguments);
        } catch (InvocationTargetException ended) {
            if (status == null) {
                // A JVM ends with 1 on an exception that its main method throws.
                status = 1;
                ended.getCause().printStackTrace(error);
            }
        }
        return "verdict\t" + (status == null ? 0 : status) + "\t" + encoded(output) + "\t" + encoded(errors);
    }

    private static String encoded(ByteArrayOutputStream bytes) {
        return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    private static List<String> decoded(String[] words) {
        List<String> found = new ArrayList<>();
        for (String word : words) {
            byte[] bytes = word.equals("-") ? new byte[0] : Base64.getDecoder().decode(word);
            found.add(new String(bytes, StandardCharsets.UTF_8));
        }
        return found;
    }
}
