// Reads cases of tab separated lines: "static", "cluster" or "own" with key and value, then any number of
// "describe" with name, keys ("-" null, else separated by commas) and synonyms (true, false); "end" ends a case.
// Prints what Kafka's ConfigHelper answers about the resource BROKER of that name.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import kafka.server.ConfigHelper;
import kafka.server.KafkaConfig;

import org.apache.kafka.common.message.DescribeConfigsRequestData.DescribeConfigsResource;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResourceResult;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResult;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsSynonym;

import scala.jdk.javaapi.CollectionConverters;

public class DescribeConfigsOracle {
    private static final Map<String, String> FILE = new HashMap<>();
    private static final Properties CLUSTER = new Properties();
    private static final Properties OWN = new Properties();
    private static KafkaConfig config;

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            switch (parts[0]) {
                case "static" -> FILE.put(parts[1], parts[2]);
                case "cluster" -> CLUSTER.put(parts[1], parts[2]);
                case "own" -> OWN.put(parts[1], parts[2]);
                case "describe" -> describe(parts, out);
                default -> begin();
            }
        }
        System.out.print("answers\n" + out);
    }

    private static void begin() {
        FILE.clear();
        CLUSTER.clear();
        OWN.clear();
        config = null;
    }

    private static void describe(String[] parts, StringBuilder out) {
        if (config == null) {
            config = new KafkaConfig(FILE, false);
            config.dynamicConfig().initialize(scala.Option.empty());
            config.dynamicConfig().updateDefaultConfig(CLUSTER, false);
            config.dynamicConfig().updateBrokerConfig(config.brokerId(), OWN, false);
        }
        DescribeConfigsResource resource = new DescribeConfigsResource().setResourceType((byte) 4)
            .setResourceName(parts[1])
            .setConfigurationKeys(parts[2].equals("-") ? null
                : parts[2].isEmpty() ? List.of() : Arrays.asList(parts[2].split(",")));
        DescribeConfigsResult result = new ConfigHelper(null, config, null).describeConfigs(
            CollectionConverters.asScala(List.of(resource)).toList(), Boolean.parseBoolean(parts[3]), false).head();
        if (result.errorCode() != 0) {
            out.append("error\t" + result.errorCode() + "\t" + result.errorMessage() + "\n");
        }
        List<DescribeConfigsResourceResult> entries = new ArrayList<>(result.configs());
        entries.sort((left, right) -> left.name().compareTo(right.name()));
        for (DescribeConfigsResourceResult entry : entries) {
            out.append("entry\t" + entry.name() + "\t" + entry.value() + "\t" + entry.configSource() + "\t"
                + entry.isSensitive() + "\t" + entry.readOnly() + "\t" + entry.configType()
                + "\t" + entry.documentation() + "\n");
            for (DescribeConfigsSynonym synonym : entry.synonyms()) {
                out.append("synonym\t" + synonym.name() + "\t" + synonym.value() + "\t" + synonym.source() + "\n");
            }
        }
        out.append("answered\n");
    }
}
