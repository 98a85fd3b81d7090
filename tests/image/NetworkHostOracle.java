// What Kafka makes of hosts of ACLs. Each line is a host in base64, and addresses behind tabs. Prints a word for each
// line: "-" if the host is no network; otherwise 1 for each address that is in it, 0 for each that is not, behind "n".

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

import org.apache.kafka.server.authorizer.internals.CidrUtils;

public class NetworkHostOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t");
            String host = new String(Base64.getDecoder().decode(parts[0]), StandardCharsets.UTF_8);
            System.out.println(word(host, parts));
        }
    }

    private static String word(String host, String[] parts) {
        try {
            CidrUtils.validate(host);
        } catch (IllegalArgumentException e) {
            return "-";
        }
        StringBuilder word = new StringBuilder("n");
        for (int i = 1; i < parts.length; i++) {
            word.append(CidrUtils.isInRange(parts[i], host) ? '1' : '0');
        }
        return word.toString();
    }
}
