// Prints what Kafka knows about its configuration keys, one tab separated line per fact; no documentation texts.
// Run by `python -m kraftctl_codegen.config_definitions` with Kafka's jars on the class path.

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.server.config.AbstractKafkaConfig;
import org.apache.kafka.server.config.ConfigSynonym;
import org.apache.kafka.server.config.DynamicBrokerConfig;
import org.apache.kafka.server.config.QuotaConfig;
import org.apache.kafka.server.config.ServerTopicConfigSynonyms;
import org.apache.kafka.server.metrics.ClientMetricsConfigs;
import org.apache.kafka.storage.internals.log.LogConfig;

public class DumpConfigDefinitions {
    public static void main(String[] arguments) throws Exception {
        keys("topic", LogConfig.configKeys(), true);
        keys("group", GroupConfig.CONFIG_DEF.configKeys(), true);
        keys("client_metrics", ClientMetricsConfigs.configDef().configKeys(), true);
        keys("broker", AbstractKafkaConfig.CONFIG_DEF.configKeys(), false);
        keys("quota", QuotaConfig.brokerQuotaConfigs().configKeys(), true);
        rules(AbstractKafkaConfig.CONFIG_DEF.configKeys());
        synonyms();
        for (String name : new TreeSet<>(DynamicBrokerConfig.ALL_DYNAMIC_CONFIGS)) {
            line("dynamic", name);
        }
        for (String name : new TreeSet<>(DynamicBrokerConfig.DYNAMIC_SECURITY_CONFIGS)) {
            line("security", name);
        }
        for (Map.Entry<String, String> mode : new TreeMap<>(DynamicBrokerConfig.dynamicConfigUpdateModes()).entrySet()) {
            if (mode.getValue().equals("per-broker")) line("per_broker", mode.getKey());
        }
        for (Map.Entry<String, Optional<String>> entry : new TreeMap<>(GroupConfig.ALL_GROUP_CONFIG_SYNONYMS).entrySet()) {
            if (entry.getValue().isPresent()) line("group_synonym", entry.getKey(), entry.getValue().get());
        }
    }

    private static void keys(String kind, Map<String, ConfigDef.ConfigKey> keys, boolean validators) throws Exception {
        for (ConfigDef.ConfigKey key : new TreeMap<>(keys).values()) {
            String value = key.hasDefault() && key.defaultValue != null
                ? "=" + ConfigDef.convertToString(key.defaultValue, key.type) : "null";
            line("key", kind, key.name, key.type.name(), key.hasDefault() ? value : "none",
                key.internalConfig ? "internal" : "public",
                validators && key.validator != null ? validator(key.validator) : "");
        }
    }

    /** Of the keys of a node, in the order in which Kafka checks them. */
    private static void rules(Map<String, ConfigDef.ConfigKey> keys) throws Exception {
        for (ConfigDef.ConfigKey key : keys.values()) {
            line("rule", key.name, key.hasDefault() ? "optional" : "required",
                key.validator == null ? "" : validator(key.validator));
        }
    }

    private static String validator(ConfigDef.Validator validator) throws Exception {
        StringBuilder out = new StringBuilder(validator.getClass().getSimpleName());
        for (Class<?> type = validator.getClass(); type != Object.class; type = type.getSuperclass()) {
            for (Field field : type.getDeclaredFields()) {
                if (java.lang.reflect.Modifier.isStatic(field.getModifiers())) continue;
                field.setAccessible(true);
                Object value = field.get(validator);
                if (value instanceof ConfigDef.Validator nested) {
                    value = validator(nested);
                }
                out.append(';').append(field.getName()).append('=').append(value);
            }
        }
        return out.append(";text=").append(validator).toString();
    }

    private static void synonyms() {
        for (Map.Entry<String, List<ConfigSynonym>> entry
                : new TreeMap<>(ServerTopicConfigSynonyms.ALL_TOPIC_CONFIG_SYNONYMS).entrySet()) {
            List<String> parts = new ArrayList<>(List.of("synonyms", entry.getKey()));
            for (ConfigSynonym synonym : entry.getValue()) {
                // A converter multiplies a whole number; what it makes of "1" tells the factor.
                parts.add(synonym.name() + "*" + synonym.converter().apply("1"));
            }
            line(parts.toArray(new String[0]));
        }
    }

    private static void line(String... parts) {
        System.out.println(String.join("\t", parts));
    }
}
