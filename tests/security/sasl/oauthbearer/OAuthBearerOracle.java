// The first line has, separated by tabs, a file with a JWKS, the clock skew in seconds, the expected audience and the
// expected issuer; both may be empty. For each further line, the base64 of the first message of a client, the answer is
// "=" and base64 of the principal, the end of its lifetime, or "refused" (the token), "failed" (the
// exchange), or "crashed" (an exception that no code of Kafka expects).

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import javax.security.auth.login.AppConfigurationEntry;
import javax.security.sasl.SaslException;

import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.SaslConfigs;
import org.apache.kafka.common.errors.SaslAuthenticationException;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.internals.OAuthBearerSaslServer;

public class OAuthBearerOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        OAuthBearerValidatorCallbackHandler handler = handler(in.readLine().split("\t", -1));
        for (String line = in.readLine(); line != null; line = in.readLine())
            System.out.println(answer(handler, Base64.getDecoder().decode(line)));
    }

    private static OAuthBearerValidatorCallbackHandler handler(String[] settings) {
        System.setProperty("org.apache.kafka.sasl.oauthbearer.allowed.urls", "file:" + settings[0]);
        Map<String, String> properties = new HashMap<>();
        properties.put(SaslConfigs.SASL_OAUTHBEARER_JWKS_ENDPOINT_URL, "file:" + settings[0]);
        properties.put(SaslConfigs.SASL_OAUTHBEARER_CLOCK_SKEW_SECONDS, settings[1]);
        if (!settings[2].isEmpty())
            properties.put(SaslConfigs.SASL_OAUTHBEARER_EXPECTED_AUDIENCE, settings[2]);
        if (!settings[3].isEmpty())
            properties.put(SaslConfigs.SASL_OAUTHBEARER_EXPECTED_ISSUER, settings[3]);
        ConfigDef definition = new ConfigDef();
        SaslConfigs.addClientSaslSupport(definition);
        OAuthBearerValidatorCallbackHandler handler = new OAuthBearerValidatorCallbackHandler();
        AppConfigurationEntry entry = new AppConfigurationEntry(OAuthBearerLoginModule.class.getName(),
            AppConfigurationEntry.LoginModuleControlFlag.REQUIRED, new HashMap<>());
        handler.configure(definition.parse(properties), OAuthBearerLoginModule.OAUTHBEARER_MECHANISM,
            new ArrayList<>(List.of(entry)));
        return handler;
    }

    private static String answer(OAuthBearerValidatorCallbackHandler handler, byte[] message) {
        OAuthBearerSaslServer server = new OAuthBearerSaslServer(handler);
        try {
            byte[] challenge = server.evaluateResponse(message);
            if (!server.isComplete())
                return new String(challenge, StandardCharsets.UTF_8).equals("{\"status\":\"invalid_token\"}")
                    ? "refused" : "unexpected";
        } catch (SaslException | SaslAuthenticationException e) {
            return "failed";
        } catch (RuntimeException e) {
            return "crashed";
        }
        String name = Base64.getEncoder().encodeToString(server.getAuthorizationID().getBytes(StandardCharsets.UTF_8));
        return "=" + name + ":" + server.getNegotiatedProperty("CREDENTIAL.LIFETIME.MS");
    }
}
