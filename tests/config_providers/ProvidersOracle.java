// For each line of pairs "key=value" in base64, separated by tabs: the pairs after Kafka's configuration of an admin
// client has resolved them, sorted, or "bad" if it refuses them.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.config.AbstractConfig;

public class ProvidersOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, String> properties = new HashMap<>();
            for (String pair : line.split("\t", -1)) {
                int equals = pair.indexOf('=');
                properties.put(decoded(pair.substring(0, equals)), decoded(pair.substring(equals + 1)));
            }
            System.out.println(resolved(properties));
        }
    }

    private static String resolved(Map<String, String> properties) {
        Map<String, Object> found;
        try {
            found = new AbstractConfig(AdminClientConfig.configDef(), properties, false).originals();
        } catch (RuntimeException e) {
            return "bad";
        }
        List<String> pairs = new ArrayList<>();
        new TreeMap<>(found).forEach((key, value) -> pairs.add(encoded(key) + "=" + encoded((String) value)));
        return String.join("\t", pairs);
    }

    private static String decoded(String text) {
        return new String(Base64.getUrlDecoder().decode(text), StandardCharsets.UTF_8);
    }

    private static String encoded(String text) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
