// Java's own keystores. Each line is a command; texts are base64, "-" is an empty one and "~" is none.
//   write TYPE PATH PASSWORD (key ALIAS PASSWORD PKCS12 | trusted ALIAS DER)*   a store with these entries
//   read TYPE PATH PASSWORD KEY-PASSWORD     prints "ok" and what is in it, or "refused REASON"
// The password of each PKCS12 is "p12".

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

public class JksOracle {
    private static final Map<String, KeyStore> LOADED = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            String found;
            try {
                found = words[0].equals("write") ? written(words) : read(words);
            } catch (Exception e) {
                found = "refused " + e.getClass().getSimpleName() + " " + e.getMessage();
            }
            System.out.println("verdict\t" + found.replace('\n', ' '));
        }
    }

    private static String written(String[] words) throws Exception {
        KeyStore store = KeyStore.getInstance(words[1]);
        store.load(null, null);
        for (int i = 4; i < words.length;) {
            if (words[i].equals("key")) {
                KeyStore from = pkcs12(words[i + 3]);
                String name = from.aliases().nextElement();
                Key key = from.getKey(name, "p12".toCharArray());
                store.setKeyEntry(text(words[i + 1]), key, chars(words[i + 2]), from.getCertificateChain(name));
                i += 4;
            } else {
                byte[] der = Files.readAllBytes(Path.of(words[i + 2]));
                store.setCertificateEntry(text(words[i + 1]), certificate(der));
                i += 3;
            }
        }
        try (OutputStream file = Files.newOutputStream(Path.of(words[2]))) {
            store.store(file, chars(words[3]));
        }
        return "ok";
    }

    private static KeyStore pkcs12(String path) throws Exception {
        if (!LOADED.containsKey(path)) {
            KeyStore store = KeyStore.getInstance("PKCS12");
            try (InputStream file = Files.newInputStream(Path.of(path))) {
                store.load(file, "p12".toCharArray());
            }
            LOADED.put(path, store);
        }
        return LOADED.get(path);
    }

    private static String read(String[] words) throws Exception {
        KeyStore store = KeyStore.getInstance(words[1]);
        try (InputStream file = Files.newInputStream(Path.of(words[2]))) {
            store.load(file, chars(words[3]));
        }
        List<String> found = new ArrayList<>();
        for (String alias : Collections.list(store.aliases())) {
            if (store.isKeyEntry(alias)) {
                StringBuilder entry = new StringBuilder("key:" + digest(store.getKey(alias, chars(words[4])).getEncoded()));
                Certificate[] chain = store.getCertificateChain(alias);
                for (int i = 0; chain != null && i < chain.length; i++)
                    entry.append(":").append(digest(chain[i].getEncoded()));
                found.add(entry.toString());
            } else {
                found.add("trusted:" + digest(store.getCertificate(alias).getEncoded()));
            }
        }
        Collections.sort(found);
        return "ok " + String.join(" ", found);
    }

    private static Certificate certificate(byte[] der) throws Exception {
        return CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    }

    private static String digest(byte[] data) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data));
    }

    private static char[] chars(String encoded) {
        return encoded.equals("~") ? null : text(encoded).toCharArray();
    }

    private static String text(String encoded) {
        byte[] bytes = encoded.equals("-") ? new byte[0] : Base64.getDecoder().decode(encoded);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
