// Prints the names of a node's configuration keys, and those of an admin client's, of any release since 3.9.
// Run by `python -m kraftctl.dev.config_definitions` with Kafka's jars on the class path.

import java.util.TreeSet;

import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;

public class DumpConfigNames {
    public static void main(String[] arguments) {
        for (String name : new TreeSet<>(AbstractKafkaConfig.CONFIG_DEF.names())) {
            System.out.println("broker\t" + name);
        }
        for (String name : new TreeSet<>(AdminClientConfig.configNames())) {
            System.out.println("client\t" + name);
        }
    }
}
