// Runs Kafka's StandardAuthorizer, whose logger writes a line to standard output for each decision.
//
// Reads lines, with fields separated by TABs: "acl" and the fields of an entry as numbers and text, then "ask" with
// principal, host, API key, operation, resource type and name, logIfAllowed, logIfDenied. Options are the first
// line: super users separated by ";", and whether everyone is allowed without an entry.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.utils.SecurityUtils;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;

public class AuthorizerLogOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        String[] options = in.readLine().split("\t", -1);
        StandardAuthorizer authorizer = new StandardAuthorizer();
        Map<String, Object> config = new HashMap<>();
        config.put("super.users", options[0]);
        config.put("allow.everyone.if.no.acl.found", options[1]);
        config.put("node.id", "1");
        authorizer.configure(config);
        authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
        Map<Uuid, StandardAcl> acls = new HashMap<>();
        boolean loaded = false;
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] field = line.split("\t", -1);
            if (field[0].equals("acl")) {
                acls.put(new Uuid(0, acls.size() + 1), new StandardAcl(
                    ResourceType.fromCode(Byte.parseByte(field[1])), field[2],
                    PatternType.fromCode(Byte.parseByte(field[3])), field[4], field[5],
                    AclOperation.fromCode(Byte.parseByte(field[6])),
                    AclPermissionType.fromCode(Byte.parseByte(field[7]))));
                continue;
            }
            if (!loaded) {
                authorizer.loadSnapshot(acls);
                authorizer.completeInitialLoad();
                loaded = true;
            }
            Action action = new Action(
                AclOperation.fromCode(Byte.parseByte(field[4])),
                new ResourcePattern(ResourceType.fromCode(Byte.parseByte(field[5])), field[6], PatternType.LITERAL),
                1, Boolean.parseBoolean(field[7]), Boolean.parseBoolean(field[8]));
            authorizer.authorize(context(field), List.of(action));
        }
    }

    private static AuthorizableRequestContext context(String[] field) throws Exception {
        KafkaPrincipal principal = SecurityUtils.parseKafkaPrincipal(field[1]);
        InetAddress address = InetAddress.getByName(field[2]);
        int apiKey = Integer.parseInt(field[3]);
        return (AuthorizableRequestContext) Proxy.newProxyInstance(
            AuthorizerLogOracle.class.getClassLoader(),
            new Class<?>[] {AuthorizableRequestContext.class},
            (proxy, method, args) -> switch (method.getName()) {
                case "principal" -> principal;
                case "clientAddress" -> address;
                case "requestType" -> apiKey;
                default -> throw new IllegalStateException(method.getName());
            });
    }
}
