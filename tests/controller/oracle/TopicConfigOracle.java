// Says for each line "key TAB value [TAB key TAB value]..." whether Kafka takes these configs for a topic: 1 or 0.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.storage.internals.log.LogConfig;

public class TopicConfigOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        StringBuilder out = new StringBuilder();
        // Any node configuration will do; a non-empty one is what makes all rules apply.
        Map<String, Object> node = new HashMap<>(new LogConfig(Map.of()).values());
        node.remove("internal.segment.bytes");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            Map<String, String> configs = new HashMap<>();
            for (int i = 0; i + 1 < parts.length; i += 2) configs.put(parts[i], parts[i + 1]);
            try {
                LogConfig.validate(Map.of(), configs, node, true);
                out.append("1\n");
            } catch (RuntimeException e) {
                out.append("0\n");
            }
        }
        System.out.print(out);
    }
}
