// kafka-storage, many times in one JVM. Each line is a command with words in base64; "-" is an empty one.
//   scram ARGUMENT      prints "ok RECORD", the record as the log has it, in hex, or "refused REASON"
//   voters ARGUMENT     prints "ok VOTERS" as id@host:port:directory-id,... or "refused REASON"
//   format WORD...      prints "ok" for exit status 0, otherwise "refused REASON"

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

import kafka.tools.StorageTool;

import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.metadata.storage.ScramParser;
import org.apache.kafka.raft.DynamicVoters;
import org.apache.kafka.server.common.ApiMessageAndVersion;

public class StorageOracle {
    private static final PrintStream OUT = System.out;

    public static void main(String[] arguments) throws Exception {
        PrintStream nowhere = new PrintStream(new ByteArrayOutputStream());
        System.setOut(nowhere);
        System.setErr(nowhere);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ");
            OUT.println("verdict\t" + verdict(words[0], decoded(words)).replace('\n', ' ').replace('\r', ' '));
        }
        OUT.flush();
    }

    private static String verdict(String command, List<String> words) {
        try {
            switch (command) {
                case "scram":
                    return "ok " + record(words);
                case "voters":
                    DynamicVoters voters = DynamicVoters.parse(words.get(0));
                    voters.toVoterSet("CONTROLLER");
                    return "ok " + voters;
                default:
                    int status = StorageTool.execute(words.toArray(new String[0]), System.out);
                    return status == 0 ? "ok" : "refused with status " + status;
            }
        } catch (Throwable e) {
            Throwable cause = e.getCause() != null && e.getMessage() == null ? e.getCause() : e;
            return "refused " + cause;
        }
    }

    @SuppressWarnings("unchecked")
    private static String record(List<String> words) throws Exception {
        Method parse = ScramParser.class.getDeclaredMethod("parse", List.class);
        parse.setAccessible(true);
        ApiMessageAndVersion found = ((List<ApiMessageAndVersion>) parse.invoke(null, words)).get(0);
        Message message = (Message) found.message();
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, found.version()));
        message.write(new ByteBufferAccessor(buffer), cache, found.version());
        return HexFormat.of().formatHex(buffer.array());
    }

    private static List<String> decoded(String[] words) {
        List<String> found = new ArrayList<>();
        for (int i = 1; i < words.length; i++) {
            byte[] bytes = words[i].equals("-") ? new byte[0] : Base64.getDecoder().decode(words[i]);
            found.add(new String(bytes, StandardCharsets.UTF_8));
        }
        return found;
    }
}
