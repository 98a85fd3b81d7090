// Lets Kafka read the directories of a node as its server does at start, and prints its verdict.
//
// Reads blocks of lines KEY=VALUE, each ended by an empty line. Prints for each one line: "starts", or "refuses"
// and the message, separated by a TAB.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Properties;

import kafka.server.KafkaConfig;
import kafka.server.KafkaRaftServer;

import org.slf4j.LoggerFactory;

public class LogDirsOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        Properties properties = new Properties();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (!line.isEmpty()) {
                properties.put(line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1));
                continue;
            }
            System.out.println("verdict\t" + verdict(properties).replace('\n', ' '));
            properties = new Properties();
        }
    }

    private static String verdict(Properties properties) {
        try {
            KafkaConfig config = new KafkaConfig(properties, false);
            KafkaRaftServer.initializeLogDirs(config, LoggerFactory.getLogger("oracle"), "");
            return "starts";
        } catch (Throwable error) {
            return "refuses\t" + error;
        }
    }
}
