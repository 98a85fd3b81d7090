import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Serves Iceberg's own REST catalog on loopback, backed by a database of SQLite; says the port once it listens. */
public class ServeCatalog {
    public static void main(String[] args) throws Exception {
        Path place = Path.of(args[0]);
        Files.createDirectories(place.resolve("warehouse"));
        var catalog = CatalogUtil.buildIcebergCatalog("backing", Map.of(
                "type", "jdbc",
                "uri", "jdbc:sqlite:" + place.resolve("rest.db") + "?busy_timeout=20000",
                "jdbc.schema-version", "V1",
                "warehouse", "file://" + place.resolve("warehouse")), new Configuration());
        var server = new Server();
        var connector = new ServerConnector(server);
        connector.setHost(InetAddress.getLoopbackAddress().getHostAddress());
        connector.setPort(Integer.parseInt(args[1]));
        server.addConnector(connector);
        var context = new ServletContextHandler();
        context.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
        server.setHandler(context);
        server.start();
        System.out.println("listening on " + connector.getLocalPort());
        server.join();
    }
}
