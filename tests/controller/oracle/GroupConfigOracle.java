// Reads "node TAB key TAB value", which changes the node, and "group [TAB key TAB value]...". Says for each group
// whether Kafka takes these configs for it: 1 or 0.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;

public class GroupConfigOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        StringBuilder out = new StringBuilder();
        Map<String, String> node = new HashMap<>(Map.of("process.roles", "controller", "node.id", "1",
            "controller.listener.names", "CONTROLLER"));
        AbstractConfig config = null;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            if (parts[0].equals("node")) {
                node.put(parts[1], parts[2]);
                config = null;
                out.append("1\n");
                continue;
            }
            if (config == null) config = new AbstractConfig(AbstractKafkaConfig.CONFIG_DEF, node, false);
            Map<String, String> group = new HashMap<>();
            for (int i = 1; i + 1 < parts.length; i += 2) group.put(parts[i], parts[i + 1]);
            try {
                GroupConfig.validate(group, new GroupCoordinatorConfig(config), new ShareGroupConfig(config));
                out.append("1\n");
            } catch (RuntimeException e) {
                out.append("0\n");
            }
        }
        System.out.print(out);
    }
}
