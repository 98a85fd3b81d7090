// Reads cases of tab separated lines: "static KEY VALUE" for the properties file; "cluster" or "own" with KEY and
// VALUE, or KEY alone to remove it, each applied at once; "topic", "group" or "metrics" with KEY and VALUE; then
// any number of "describe TYPE NAME KEYS SYNONYMS" (keys: "-" null, else separated by commas); "end" ends a case.
// Prints what Kafka's ConfigHelper answers. The topic "t" exists.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;

import kafka.server.BrokerReconfigurable;
import kafka.server.ConfigHelper;
import kafka.server.KafkaConfig;

import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.message.DescribeConfigsRequestData.DescribeConfigsResource;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResourceResult;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsResult;
import org.apache.kafka.common.message.DescribeConfigsResponseData.DescribeConfigsSynonym;
import org.apache.kafka.metadata.ConfigRepository;
import org.apache.kafka.metadata.MetadataCache;
import org.apache.kafka.server.DynamicThreadPool;

import scala.jdk.javaapi.CollectionConverters;

public class DescribeConfigsOracle {
    private static final Map<String, String> FILE = new HashMap<>();
    private static final Map<String, Properties> STORED = new HashMap<>();
    private static KafkaConfig config;

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            switch (parts[0]) {
                case "static" -> FILE.put(parts[1], parts[2]);
                case "cluster", "own", "topic", "group", "metrics" -> store(parts);
                case "describe" -> describe(parts, out);
                default -> begin();
            }
        }
        System.out.print("answers\n" + out);
    }

    private static void begin() {
        FILE.clear();
        STORED.clear();
        config = null;
    }

    private static Properties stored(String kind) {
        return STORED.computeIfAbsent(kind, ignored -> new Properties());
    }

    private static KafkaConfig config() {
        if (config == null) {
            config = new KafkaConfig(FILE, false);
            config.dynamicConfig().initialize(scala.Option.empty());
            config.dynamicConfig().addBrokerReconfigurable(new Threads());
        }
        return config;
    }

    private static void store(String[] parts) {
        Properties of = stored(parts[0]);
        if (parts.length < 3) of.remove(parts[1]);
        else of.put(parts[1], parts[2]);
        if (parts[0].equals("cluster")) config().dynamicConfig().updateDefaultConfig(of, false);
        if (parts[0].equals("own")) config().dynamicConfig().updateBrokerConfig(config.brokerId(), of, false);
    }

    /** As kafka.server.ControllerDynamicThreadPool, which needs a whole controller. */
    private static class Threads implements BrokerReconfigurable {
        public Set<String> reconfigurableConfigs() {
            return Set.of("num.io.threads");
        }

        public void validateReconfiguration(KafkaConfig newConfig) {
            DynamicThreadPool.validateReconfiguration(config, newConfig);
        }

        public void reconfigure(KafkaConfig oldConfig, KafkaConfig newConfig) {
        }
    }

    private static void describe(String[] parts, StringBuilder out) {
        DescribeConfigsResource resource = new DescribeConfigsResource().setResourceType(Byte.parseByte(parts[1]))
            .setResourceName(parts[2])
            .setConfigurationKeys(parts[3].equals("-") ? null
                : parts[3].isEmpty() ? List.of() : Arrays.asList(parts[3].split(",")));
        MetadataCache cache = (MetadataCache) Proxy.newProxyInstance(MetadataCache.class.getClassLoader(),
            new Class<?>[] {MetadataCache.class}, (proxy, method, values) -> values[0].equals("t"));
        ConfigRepository repository = of -> {
            Properties copy = new Properties();
            copy.putAll(stored(of.type() == ConfigResource.Type.TOPIC ? "topic"
                : of.type() == ConfigResource.Type.GROUP ? "group" : "metrics"));
            return copy;
        };
        DescribeConfigsResult result = new ConfigHelper(cache, config(), repository).describeConfigs(
            CollectionConverters.asScala(List.of(resource)).toList(), Boolean.parseBoolean(parts[4]), false).head();
        if (result.errorCode() != 0) {
            out.append("error\t" + result.errorCode() + "\n");
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
