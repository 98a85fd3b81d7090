// Kafka's own sides of SASL, many at a time. Each line is a command; texts and tokens are base64, "-" is none.
//   user MECHANISM NAME PASSWORD ITERATIONS            what the server knows of SCRAM: prints salt stored server
//   credential MECHANISM NAME SALT STORED SERVER ITERATIONS
//   token MECHANISM ID PASSWORD OWNER                  a delegation token: prints the salt, stored and server key
//   plain-user NAME PASSWORD
//   server ID MECHANISM, client ID MECHANISM NAME PASSWORD TOKENAUTH     one side of an exchange
//   evaluate ID TOKEN                                  prints "more TOKEN", "done TOKEN PRINCIPAL" or "refused"

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import javax.security.auth.callback.NameCallback;
import javax.security.auth.callback.PasswordCallback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.sasl.Sasl;
import javax.security.sasl.SaslClient;
import javax.security.sasl.SaslServer;

import org.apache.kafka.common.security.plain.PlainLoginModule;
import org.apache.kafka.common.security.plain.internals.PlainSaslServer;
import org.apache.kafka.common.security.plain.internals.PlainServerCallbackHandler;
import org.apache.kafka.common.security.scram.ScramCredential;
import org.apache.kafka.common.security.scram.ScramCredentialCallback;
import org.apache.kafka.common.security.scram.ScramExtensionsCallback;
import org.apache.kafka.common.security.scram.internals.ScramFormatter;
import org.apache.kafka.common.security.scram.internals.ScramMechanism;
import org.apache.kafka.common.security.scram.internals.ScramSaslClient;
import org.apache.kafka.common.security.scram.internals.ScramSaslServer;
import org.apache.kafka.common.security.token.delegation.internals.DelegationTokenCredentialCallback;

public class SaslOracle {
    private static final Map<String, ScramCredential> USERS = new HashMap<>();
    private static final Map<String, ScramCredential> TOKENS = new HashMap<>();
    private static final Map<String, String> OWNERS = new HashMap<>();
    private static final Map<String, String> PLAIN_USERS = new HashMap<>();
    private static final Map<String, SaslServer> SERVERS = new HashMap<>();
    private static final Map<String, SaslClient> CLIENTS = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            System.out.println(answer(line.split(" ")));
            System.out.flush();
        }
    }

    private static String answer(String[] parts) throws Exception {
        switch (parts[0]) {
            case "user":
                return known(USERS, parts[1], text(parts[2]), text(parts[3]), Integer.parseInt(parts[4]));
            case "credential":
                USERS.put(parts[1] + text(parts[2]), new ScramCredential(
                    bytes(parts[3]), bytes(parts[4]), bytes(parts[5]), Integer.parseInt(parts[6])));
                return "ok";
            case "token":
                OWNERS.put(text(parts[2]), text(parts[4]));
                return known(TOKENS, parts[1], text(parts[2]), text(parts[3]), 4096);
            case "plain-user":
                PLAIN_USERS.put("user_" + text(parts[1]), text(parts[2]));
                return "ok";
            case "server":
                SERVERS.put(parts[1], server(parts[2]));
                return "ok";
            case "client":
                CLIENTS.put(parts[1], client(parts[2], text(parts[3]), text(parts[4]), parts[5]));
                return "ok";
            default:
                return evaluated(parts[1], bytes(parts[2]));
        }
    }

    private static String known(Map<String, ScramCredential> into, String mechanism, String name, String password,
                                int iterations) throws Exception {
        ScramFormatter formatter = new ScramFormatter(ScramMechanism.forMechanismName(mechanism));
        ScramCredential credential = formatter.generateCredential(password, iterations);
        into.put(mechanism + name, credential);
        return encoded(credential.salt()) + " " + encoded(credential.storedKey()) + " " + encoded(credential.serverKey());
    }

    private static SaslServer server(String mechanism) throws Exception {
        if (mechanism.equals("PLAIN")) {
            PlainServerCallbackHandler handler = new PlainServerCallbackHandler();
            handler.configure(Map.of(), mechanism, List.of(new AppConfigurationEntry(
                PlainLoginModule.class.getName(), LoginModuleControlFlag.REQUIRED, PLAIN_USERS)));
            return new PlainSaslServer(handler);
        }
        return new ScramSaslServer(ScramMechanism.forMechanismName(mechanism), Map.of(), lookup(mechanism));
    }

    private static CallbackHandler lookup(String mechanism) {
        return callbacks -> {
            String name = ((NameCallback) callbacks[0]).getDefaultName();
            if (callbacks[1] instanceof DelegationTokenCredentialCallback) {
                DelegationTokenCredentialCallback token = (DelegationTokenCredentialCallback) callbacks[1];
                token.scramCredential(TOKENS.get(mechanism + name));
                token.tokenOwner(OWNERS.get(name));
            } else {
                ((ScramCredentialCallback) callbacks[1]).scramCredential(USERS.get(mechanism + name));
            }
        };
    }

    private static SaslClient client(String mechanism, String name, String password, String tokenAuth) throws Exception {
        CallbackHandler handler = callbacks -> {
            for (Callback callback : callbacks) {
                if (callback instanceof NameCallback) {
                    ((NameCallback) callback).setName(name);
                } else if (callback instanceof PasswordCallback) {
                    ((PasswordCallback) callback).setPassword(password.toCharArray());
                } else if (callback instanceof ScramExtensionsCallback) {
                    if (tokenAuth.equals("true"))
                        ((ScramExtensionsCallback) callback).extensions(Map.of("tokenauth", "true"));
                } else {
                    throw new UnsupportedCallbackException(callback);
                }
            }
        };
        if (mechanism.equals("PLAIN"))
            return Sasl.createSaslClient(new String[]{"PLAIN"}, null, "kafka", "localhost", Map.of(), handler);
        return new ScramSaslClient(ScramMechanism.forMechanismName(mechanism), handler);
    }

    private static String evaluated(String id, byte[] token) {
        try {
            if (SERVERS.containsKey(id)) {
                SaslServer server = SERVERS.get(id);
                byte[] answer = server.evaluateResponse(token);
                if (!server.isComplete())
                    return "more " + encoded(answer);
                return "done " + encoded(answer) + " " + encoded(server.getAuthorizationID());
            }
            SaslClient client = CLIENTS.get(id);
            byte[] answer = client.evaluateChallenge(token);
            return (client.isComplete() ? "done " : "more ") + (answer == null ? "-" : encoded(answer));
        } catch (Exception e) {
            return "refused";
        }
    }

    private static byte[] bytes(String encoded) {
        return encoded.equals("-") ? new byte[0] : Base64.getDecoder().decode(encoded);
    }

    private static String text(String encoded) {
        return new String(bytes(encoded), StandardCharsets.UTF_8);
    }

    private static String encoded(String text) {
        return encoded(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String encoded(byte[] bytes) {
        return bytes.length == 0 ? "-" : Base64.getEncoder().encodeToString(bytes);
    }
}
