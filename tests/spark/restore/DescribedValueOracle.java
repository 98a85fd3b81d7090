// For each line "type TAB value": how a broker describes a config of this type that was set to the value, or "-" where
// it does not accept it. Values are in Base64.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

public class DescribedValueOracle {
    private static final String KEY = "key";

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            out.append(described(ConfigDef.Type.valueOf(parts[0]), text(parts[1]))).append('\n');
        }
        System.out.print(out);
    }

    private static String described(ConfigDef.Type type, String value) {
        ConfigDef.Validator validator =
            type == ConfigDef.Type.LIST ? ConfigDef.ValidList.anyNonDuplicateValues(true, false) : null;
        ConfigDef definition = new ConfigDef().define(
            KEY, type, ConfigDef.NO_DEFAULT_VALUE, validator, ConfigDef.Importance.LOW, "");
        try {
            String found = ConfigDef.convertToString(definition.parse(Map.of(KEY, value)).get(KEY), type);
            return "=" + Base64.getEncoder().encodeToString(found.getBytes(StandardCharsets.UTF_8));
        } catch (ConfigException error) {
            return "-";
        }
    }

    private static String text(String encoded) {
        return new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
    }
}
