// For each line "config TAB text" (base64 of UTF-8): the login module that Kafka reads from a value of
// sasl.jaas.config. For "file TAB text": the sections that Java reads from a JAAS file. "bad" if it refuses them.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.NoSuchAlgorithmException;
import java.security.URIParameter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import javax.security.auth.login.AppConfigurationEntry;
import javax.security.auth.login.AppConfigurationEntry.LoginModuleControlFlag;
import javax.security.auth.login.Configuration;

import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.JaasContext;

public class JaasOracle {
    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Path file = Files.createTempFile("oracle", ".conf");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            String text = new String(Base64.getDecoder().decode(parts[1]), StandardCharsets.UTF_8);
            String answer;
            try {
                answer = parts[0].equals("config") ? config(text) : sections(file, text, parts[2].split(","));
            } catch (IllegalArgumentException | SecurityException | NoSuchAlgorithmException e) {
                answer = "bad";
            }
            System.out.println(answer);
        }
        Files.delete(file);
    }

    private static String config(String text) {
        return entries(JaasContext.loadClientContext(Map.of("sasl.jaas.config", new Password(text))).configurationEntries());
    }

    private static String sections(Path file, String text, String[] names) throws Exception {
        Files.writeString(file, text);
        Configuration configuration = Configuration.getInstance("JavaLoginConfig", new URIParameter(file.toUri()));
        List<String> found = new ArrayList<>();
        for (String name : names) {
            AppConfigurationEntry[] entries = configuration.getAppConfigurationEntry(name);
            found.add(name + ":" + (entries == null ? "none" : entries(List.of(entries))));
        }
        return String.join("/", found);
    }

    private static String entries(List<AppConfigurationEntry> entries) {
        List<String> found = new ArrayList<>();
        for (AppConfigurationEntry entry : entries) {
            TreeMap<String, String> options = new TreeMap<>();
            for (Map.Entry<String, ?> option : entry.getOptions().entrySet()) {
                options.put(encoded(String.valueOf(option.getKey())), encoded((String) option.getValue()));
            }
            found.add(encoded(entry.getLoginModuleName()) + "|" + flag(entry.getControlFlag()) + "|" + options);
        }
        return String.join(";", found).replace(" ", "");
    }

    private static String flag(LoginModuleControlFlag flag) {
        return flag.toString().replace("LoginModuleControlFlag: ", "").toUpperCase();
    }

    private static String encoded(String text) {
        return Base64.getEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
