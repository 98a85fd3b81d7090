// For each line "rules TAB name" (base64 of UTF-8): Kafka's name for a subject, or "none", or "bad" for the rules.
// For each line "certificate TAB der" (base64): X500Principal.getName() of its subject.

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Base64;

import org.apache.kafka.common.security.ssl.SslPrincipalMapper;

public class SslNamesOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            String answer = parts[0].equals("certificate") ? subject(parts[1]) : mapped(text(parts[0]), text(parts[1]));
            System.out.println(answer);
        }
    }

    private static String subject(String encoded) throws Exception {
        ByteArrayInputStream der = new ByteArrayInputStream(Base64.getDecoder().decode(encoded));
        X509Certificate certificate = (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(der);
        return "=" + base64(certificate.getSubjectX500Principal().getName());
    }

    private static String mapped(String rules, String name) {
        SslPrincipalMapper mapper;
        try {
            mapper = SslPrincipalMapper.fromRules(rules);
        } catch (IllegalArgumentException e) {
            return "bad";
        }
        try {
            return "=" + base64(mapper.getName(name));
        } catch (IOException e) {
            return "none";
        } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
            return "bad";
        }
    }

    private static String text(String encoded) {
        return new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
