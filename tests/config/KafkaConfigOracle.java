// Says for each line, a properties file in base64, what Kafka's KafkaConfig thinks of it: "accepted", or the name of
// the exception, a tab and its message on one line.

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Properties;

import kafka.server.KafkaConfig;

public class KafkaConfigOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        PrintWriter out = new PrintWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(verdict(Base64.getDecoder().decode(line)));
        }
        out.flush();
    }

    private static String verdict(byte[] file) throws Exception {
        try {
            Properties properties = new Properties();
            properties.load(new ByteArrayInputStream(file));
            KafkaConfig.fromProps(properties, false);
            return "accepted";
        } catch (RuntimeException e) {
            return e.getClass().getSimpleName() + "\t" + String.valueOf(e.getMessage()).replaceAll("\\R", " ");
        }
    }
}
