// For each line "old TAB new TAB allow" (base64 of PEM): whether Kafka's SslFactory takes the new store.
// A store is "key|chain|trusted", each base64; allow is "dn", "san", "dn,san" or empty; "peers" in front of it
// means that stores must verify each other, as for the listener between brokers.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.network.ConnectionMode;
import org.apache.kafka.common.security.ssl.SslFactory;

public class SslReplacementOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            SslFactory factory = new SslFactory(ConnectionMode.SERVER, null, parts[2].startsWith("peers"));
            factory.configure(configs(parts[0], parts[2]));
            String answer = "yes";
            try {
                factory.validateReconfiguration(configs(parts[1], parts[2]));
            } catch (Exception e) {
                answer = "no";
            }
            System.out.println(answer);
        }
    }

    private static Map<String, Object> configs(String store, String allow) {
        String[] texts = store.split("\\|", -1);
        Map<String, Object> configs = new HashMap<>();
        configs.put("ssl.protocol", "TLSv1.3");
        configs.put("ssl.enabled.protocols", List.of("TLSv1.2", "TLSv1.3"));
        configs.put("ssl.cipher.suites", List.of());
        configs.put("ssl.client.auth", "required");
        configs.put("ssl.keystore.type", "PEM");
        configs.put("ssl.truststore.type", "PEM");
        configs.put("ssl.keystore.key", password(texts[0]));
        configs.put("ssl.keystore.certificate.chain", password(texts[1]));
        configs.put("ssl.truststore.certificates", password(texts[2]));
        configs.put("ssl.keymanager.algorithm", "SunX509");
        configs.put("ssl.trustmanager.algorithm", "PKIX");
        configs.put("ssl.endpoint.identification.algorithm", "https");
        configs.put("ssl.allow.dn.changes", allow.contains("dn"));
        configs.put("ssl.allow.san.changes", allow.contains("san"));
        return configs;
    }

    private static Password password(String encoded) {
        return new Password(new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8));
    }
}
