import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import kafka.docker.KafkaDockerWrapper$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Prints the server.properties that Kafka's image makes: per line of standard input, base64 words, of which
 * the first is the mounted file (a dash if there is none) and the others are NAME=VALUE.
 */
public class WrapperOracle {
    public static void main(String[] arguments) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(Base64.getEncoder().encodeToString(properties(line.split(" "))));
        }
    }

    private static byte[] properties(String[] words) throws Exception {
        Path defaults = Files.createTempDirectory("defaults");
        Path mounted = Files.createTempDirectory("mounted");
        Path made = Files.createTempDirectory("made");
        Files.writeString(defaults.resolve("server.properties"), "is.default=true\n");
        if (!words[0].equals("-")) {
            Files.write(mounted.resolve("server.properties"), Base64.getDecoder().decode(words[0]));
        }
        Files.createFile(made.resolve("server.properties"));
        Map<String, String> variables = new HashMap<>();
        for (int each = 1; each < words.length; each++) {
            String[] pair = new String(Base64.getDecoder().decode(words[each]), StandardCharsets.UTF_8).split("=", 2);
            variables.put(pair[0], pair[1]);
        }
        var immutable = scala.collection.immutable.Map$.MODULE$.from(CollectionConverters.asScala(variables));
        KafkaDockerWrapper$.MODULE$.prepareServerConfigs(defaults, mounted, made, immutable);
        return Files.readAllBytes(made.resolve("server.properties"));
    }
}
