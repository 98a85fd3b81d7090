// For each line with tabs between base64 of UTF-8: "secret", "assertion" or "bearer", a client id, a secret or an
// assertion, a scope or nothing, "true" or "false" for header.urlencode. The answer is base64 of the headers, sorted, and
// of the body.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.TreeMap;

import org.apache.kafka.common.security.oauthbearer.internals.secured.ClientAssertionRequestFormatter;
import org.apache.kafka.common.security.oauthbearer.internals.secured.ClientSecretRequestFormatter;
import org.apache.kafka.common.security.oauthbearer.internals.secured.HttpRequestFormatter;
import org.apache.kafka.common.security.oauthbearer.internals.secured.JwtBearerRequestFormatter;
import org.apache.kafka.common.security.oauthbearer.internals.secured.assertion.CloseableSupplier;

public class TokenRequestOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            for (int i = 0; i < parts.length; i++)
                parts[i] = new String(Base64.getDecoder().decode(parts[i]), StandardCharsets.UTF_8);
            HttpRequestFormatter formatter = formatter(parts);
            String headers = new TreeMap<>(formatter.formatHeaders()).toString();
            System.out.println("=" + base64(headers) + ":" + base64(formatter.formatBody()));
        }
    }

    private static HttpRequestFormatter formatter(String[] parts) {
        String scope = parts[3].isEmpty() ? null : parts[3];
        if (parts[0].equals("secret"))
            return new ClientSecretRequestFormatter(parts[1], parts[2], scope, parts[4].equals("true"));
        if (parts[0].equals("bearer"))
            return new JwtBearerRequestFormatter(scope, () -> parts[2]);
        CloseableSupplier<String> supplier = new CloseableSupplier<>() {
            @Override
            public String get() {
                return parts[2];
            }

            @Override
            public void close() {
            }
        };
        return new ClientAssertionRequestFormatter(parts[1], scope, supplier);
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
