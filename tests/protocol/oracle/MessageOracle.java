import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;

/**
 * Tells what Kafka's own generated classes make of a message. Reads a file of JSON lines, prints one line each:
 *
 *   {"name", "version", "json": {...}}   write that message:          {"hex", "json"}
 *   {"name", "version", "hex": "..."}    read it and write it again:  {"hex", "json"}
 *
 * "json" of an answer is what Kafka's converter says about the message after reading the bytes back.
 * {"error": "..."} if Kafka refuses, {"unknown": true} if this Kafka has no such message or version.
 */
public class MessageOracle {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String[] PACKAGES = {
        "org.apache.kafka.common.message.%sData",
        "org.apache.kafka.common.metadata.%s",
        "org.apache.kafka.common.message.%s",
        "org.apache.kafka.raft.generated.%s",
    };

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line : Files.readAllLines(Path.of(arguments[0]), StandardCharsets.UTF_8)) {
            out.println(answer(MAPPER.readTree(line)));
        }
        out.flush();
    }

    private static ObjectNode answer(JsonNode question) throws Exception {
        ObjectNode answer = MAPPER.createObjectNode();
        short version = question.get("version").shortValue();
        Class<?> type = find(question.get("name").asText());
        if (type == null || !accepts(type, version)) {
            return answer.put("unknown", true);
        }
        try {
            Message message = question.has("hex")
                ? read(type, HexFormat.of().parseHex(question.get("hex").asText()), version)
                : fromJson(type, question.get("json"), version);
            byte[] bytes = write(message, version);
            answer.put("hex", HexFormat.of().formatHex(bytes));
            answer.set("json", toJson(read(type, bytes, version), version));
        } catch (InvocationTargetException error) {
            answer.put("error", String.valueOf(error.getCause()));
        } catch (RuntimeException error) {
            answer.put("error", String.valueOf(error));
        }
        return answer;
    }

    private static Class<?> find(String name) {
        for (String pattern : PACKAGES) {
            try {
                Class<?> type = Class.forName(String.format(pattern, name));
                if (Message.class.isAssignableFrom(type)) {
                    return type;
                }
            } catch (ClassNotFoundException next) {
                continue;
            }
        }
        return null;
    }

    private static Message create(Class<?> type) throws Exception {
        return (Message) type.getConstructor().newInstance();
    }

    private static boolean accepts(Class<?> type, short version) throws Exception {
        Message message = create(type);
        return version >= message.lowestSupportedVersion() && version <= message.highestSupportedVersion();
    }

    private static byte[] write(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException(buffer.remaining() + " bytes not written");
        }
        return buffer.array();
    }

    private static Message read(Class<?> type, byte[] bytes, short version) throws Exception {
        Message message = create(type);
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        message.read(new ByteBufferAccessor(buffer), version);
        if (buffer.hasRemaining()) {
            throw new IllegalStateException(buffer.remaining() + " bytes left over");
        }
        return message;
    }

    private static Message fromJson(Class<?> type, JsonNode json, short version) throws Exception {
        Method method = converter(type).getMethod("read", JsonNode.class, short.class);
        return (Message) method.invoke(null, json, version);
    }

    private static JsonNode toJson(Message message, short version) throws Exception {
        Class<?> type = message.getClass();
        Method method = converter(type).getMethod("write", type, short.class, boolean.class);
        return (JsonNode) method.invoke(null, message, version, false);
    }

    private static Class<?> converter(Class<?> type) throws ClassNotFoundException {
        return Class.forName(type.getName() + "JsonConverter");
    }
}
