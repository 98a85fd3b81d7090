// Prints the names of the configuration keys of a node and of each kind of client, of any release since 3.9.
// Run by `python -m kraftctl_codegen.config_definitions` with Kafka's jars on the class path.

import java.util.Collection;
import java.util.TreeSet;

import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;

public class DumpConfigNames {
    public static void main(String[] arguments) {
        print("broker", AbstractKafkaConfig.CONFIG_DEF.names());
        print("admin", AdminClientConfig.configNames());
        print("client", ConsumerConfig.configNames());
        print("client", ProducerConfig.configNames());
    }

    private static void print(String kind, Collection<String> names) {
        for (String name : new TreeSet<>(names)) {
            System.out.println(kind + "\t" + name);
        }
    }
}
