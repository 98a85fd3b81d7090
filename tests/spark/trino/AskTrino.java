import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.trino.spi.Plugin;
import io.trino.spi.type.SqlDecimal;
import io.trino.spi.type.SqlTimestamp;
import io.trino.spi.type.SqlTimestampWithTimeZone;
import io.trino.spi.type.SqlVarbinary;
import io.trino.spi.type.TimeZoneKey;
import io.trino.testing.MaterializedResult;
import io.trino.testing.MaterializedRow;
import io.trino.testing.StandaloneQueryRunner;
import io.trino.testing.TestingSession;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs the SQL files of a directory in Trino, in the order of their names; writes what each returns at last. Its
 * catalogs are files, too, with their plugins and properties as JSON.
 */
public class AskTrino {
    private static final String SEPARATOR = ";\n-- then\n";

    public static void main(String[] args) {
        int status = 1;
        try {
            ask(Path.of(args[0]), Path.of(args[1]), Path.of(args[2]));
            status = 0;
        } catch (Throwable error) {
            error.printStackTrace();
        }
        Runtime.getRuntime().halt(status);  // Its threads would keep the process.
    }

    private static void ask(Path catalogs, Path sql, Path answers) throws Exception {
        var session = TestingSession.testSessionBuilder()
                .setCatalog("hive").setSchema("history").setTimeZoneKey(TimeZoneKey.UTC_KEY).build();
        var runner = new StandaloneQueryRunner(session);
        for (Path file : sorted(catalogs)) {
            Map<String, String> properties = new ObjectMapper().readValue(file.toFile(), new TypeReference<>() {});
            var plugin = Class.forName(properties.remove("plugin"));
            runner.installPlugin((Plugin) plugin.getConstructor().newInstance());
            runner.createCatalog(file.getFileName().toString(), properties.remove("connector.name"), properties);
        }
        for (Path file : sorted(sql)) {
            MaterializedResult result = null;
            for (String statement : Files.readString(file).split(SEPARATOR)) {
                try {
                    result = runner.execute(session, statement);
                } catch (RuntimeException error) {
                    throw new IllegalStateException(file.getFileName() + ": " + error.getMessage() + "\n" + statement);
                }
            }
            Files.writeString(answers.resolve(file.getFileName() + ".json"), new ObjectMapper().writeValueAsString(rows(result)));
        }
    }

    private static List<Path> sorted(Path directory) throws IOException {
        try (var found = Files.list(directory)) {
            return found.sorted().toList();
        }
    }

    private static List<Map<String, Object>> rows(MaterializedResult result) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (MaterializedRow row : result.getMaterializedRows()) {
            Map<String, Object> named = new LinkedHashMap<>();
            for (int column = 0; column < result.getColumnNames().size(); column++) {
                named.put(result.getColumnNames().get(column), plain(row.getField(column)));
            }
            rows.add(named);
        }
        return rows;
    }

    private static Object plain(Object value) {
        return switch (value) {
            case null -> null;
            case LocalDateTime time -> time(time.toInstant(ZoneOffset.UTC));
            case SqlTimestamp time -> time(time.toLocalDateTime().toInstant(ZoneOffset.UTC));
            case SqlTimestampWithTimeZone time -> time(time.toZonedDateTime().toInstant());
            case SqlVarbinary bytes -> HexFormat.of().formatHex(bytes.getBytes());
            case SqlDecimal number -> number.toBigDecimal();
            case MaterializedRow row -> row.getFields().stream().map(AskTrino::plain).toList();
            case List<?> list -> {
                List<Object> plain = new ArrayList<>();
                list.forEach(each -> plain.add(plain(each)));
                yield plain;
            }
            default -> value;
        };
    }

    private static Map<String, Object> time(Instant instant) {
        return Map.of("time_us", ChronoUnit.MICROS.between(Instant.EPOCH, instant));
    }
}
