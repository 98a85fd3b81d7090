// For each line "present TAB operation TAB value": the config that Kafka's controller stores for a list that is
// `present` ("-" when it is unset) after APPEND or SUBTRACT of `value`.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;

import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.metadata.KafkaConfigSchema;
import org.apache.kafka.server.common.ApiMessageAndVersion;

public class ChangedListOracle {
    private static final String MANAGER = "org.apache.kafka.controller.ConfigurationControlManager";
    private static final String KEY = "list";

    public static void main(String[] arguments) throws Exception {
        ConfigDef lists = new ConfigDef().define(KEY, ConfigDef.Type.LIST, "delete", ConfigDef.Importance.LOW, "");
        KafkaConfigSchema schema = new KafkaConfigSchema(Map.of(ConfigResource.Type.BROKER, lists), Map.of());
        ConfigResource resource = new ConfigResource(ConfigResource.Type.BROKER, "1");
        Constructor<?> builder = Class.forName(MANAGER + "$Builder").getDeclaredConstructor();
        builder.setAccessible(true);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            Object built = call(builder.newInstance(), "setKafkaConfigSchema", schema);
            Object manager = call(built, "build");
            if (!parts[0].equals("-")) {
                call(manager, "replay", record(resource, parts[0]));
            }
            Map<String, ?> change = Map.of(KEY, Map.entry(OpType.valueOf(parts[1]), parts[2]));
            Object result = call(manager, "incrementalAlterConfig", resource, change, false, false);
            List<?> records = (List<?>) call(result, "records");
            ConfigRecord written = (ConfigRecord) ((ApiMessageAndVersion) records.get(0)).message();
            out.append(written.value()).append('\n');
        }
        System.out.print(out);
    }

    private static ConfigRecord record(ConfigResource resource, String value) {
        return new ConfigRecord().setResourceType(resource.type().id()).setResourceName(resource.name())
            .setName(KEY).setValue(value);
    }

    private static Object call(Object target, String name, Object... arguments) throws Exception {
        for (Method method : target.getClass().getDeclaredMethods()) {
            if (method.getName().equals(name) && takes(method, arguments)) {
                method.setAccessible(true);
                return method.invoke(target, arguments);
            }
        }
        throw new NoSuchMethodException(name);
    }

    private static boolean takes(Method method, Object[] arguments) {
        Class<?>[] parameters = method.getParameterTypes();
        if (parameters.length != arguments.length) return false;
        for (int i = 0; i < parameters.length; i++) {
            if (!parameters[i].isPrimitive() && !parameters[i].isInstance(arguments[i])) return false;
        }
        return true;
    }
}
