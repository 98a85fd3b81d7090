import java.io.FileReader;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;

/** Kafka's own client: connects as each file of properties says, describes the cluster, prints the outcome. */
public class TlsClient {
    public static void main(String[] files) throws Exception {
        for (String file : files) {
            Properties properties = new Properties();
            try (FileReader reader = new FileReader(file)) {
                properties.load(reader);
            }
            try (Admin admin = Admin.create(properties)) {
                System.out.println("served " + admin.describeCluster().clusterId().get(20, TimeUnit.SECONDS));
            } catch (ExecutionException refused) {
                System.out.println("refused " + refused.getCause());
            }
        }
    }
}
