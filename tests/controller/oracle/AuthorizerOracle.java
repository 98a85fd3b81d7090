// Asks Kafka's StandardAuthorizer. Lines of fields between tabs; texts are base64 of UTF-8, the others numbers:
// "new, super.users, allow.everyone.if.no.acl.found", "add, id, type, name, pattern, principal, host, operation,
// permission", "remove, id" and "ask, type, name, operation, principal type, principal name, address".
// Prints a character for each "ask": A allowed, D denied, X refused with an IllegalArgumentException.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.metadata.authorizer.StandardAcl;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;
import org.apache.kafka.server.authorizer.Action;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.authorizer.AuthorizationResult;

public class AuthorizerOracle {
    private static final StringBuilder OUT = new StringBuilder();
    private static StandardAuthorizer authorizer;

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            switch (parts[0]) {
                case "new" -> begin(text(parts[1]), parts[2]);
                case "add" -> authorizer.addAcl(id(parts[1]), acl(parts));
                case "remove" -> authorizer.removeAcl(id(parts[1]));
                default -> OUT.append(answer(parts));
            }
        }
        System.out.println(OUT);
    }

    private static void begin(String superUsers, String allowEveryone) {
        if (authorizer == null) {
            authorizer = new StandardAuthorizer();
            authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
            authorizer.completeInitialLoad();
        }
        authorizer.configure(Map.of("super.users", superUsers, "allow.everyone.if.no.acl.found", allowEveryone));
        authorizer.loadSnapshot(Map.of());
    }

    private static StandardAcl acl(String[] parts) {
        return new StandardAcl(
            ResourceType.fromCode(Byte.parseByte(parts[2])),
            text(parts[3]),
            PatternType.fromCode(Byte.parseByte(parts[4])),
            text(parts[5]),
            text(parts[6]),
            AclOperation.fromCode(Byte.parseByte(parts[7])),
            AclPermissionType.fromCode(Byte.parseByte(parts[8])));
    }

    private static char answer(String[] parts) throws IOException {
        ResourceType type = ResourceType.fromCode(Byte.parseByte(parts[1]));
        ResourcePattern resource = new ResourcePattern(type, text(parts[2]), PatternType.LITERAL);
        Action action = new Action(AclOperation.fromCode(Byte.parseByte(parts[3])), resource, 1, true, true);
        KafkaPrincipal principal = new KafkaPrincipal(text(parts[4]), text(parts[5]));
        InetAddress address = InetAddress.getByAddress(Base64.getDecoder().decode(parts[6]));
        try {
            boolean allowed = authorizer.authorize(new Asker(principal, address), List.of(action)).get(0)
                == AuthorizationResult.ALLOWED;
            return allowed ? 'A' : 'D';
        } catch (IllegalArgumentException e) {
            return 'X';
        }
    }

    private static Uuid id(String number) {
        return new Uuid(1, Long.parseLong(number));
    }

    private static String text(String encoded) {
        return new String(Base64.getDecoder().decode(encoded), StandardCharsets.UTF_8);
    }

    private record Asker(KafkaPrincipal principal, InetAddress clientAddress) implements AuthorizableRequestContext {
        @Override
        public String listenerName() {
            return "CONTROLLER";
        }

        @Override
        public SecurityProtocol securityProtocol() {
            return SecurityProtocol.SSL;
        }

        @Override
        public int requestType() {
            return ApiKeys.CREATE_TOPICS.id;
        }

        @Override
        public int requestVersion() {
            return 7;
        }

        @Override
        public String clientId() {
            return "asker";
        }

        @Override
        public int correlationId() {
            return 1;
        }
    }
}
