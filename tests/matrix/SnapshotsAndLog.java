import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.kafka.common.metadata.MetadataRecordType;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.MetadataRecordSerde;

/**
 * Compares each snapshot of a directory with its log, replayed to the same offset by Kafka's own image.
 *
 * Prints "equal OFFSET" or "differs OFFSET PART" for each part of the image that differs.
 */
public class SnapshotsAndLog {
    private static final Map<String, Function<MetadataImage, Object>> PARTS = new LinkedHashMap<>();

    static {
        PARTS.put("features", MetadataImage::features);
        PARTS.put("cluster", MetadataImage::cluster);
        PARTS.put("topics", MetadataImage::topics);
        PARTS.put("configs", MetadataImage::configs);
        PARTS.put("clientQuotas", MetadataImage::clientQuotas);
        PARTS.put("producerIds", MetadataImage::producerIds);
        PARTS.put("acls", MetadataImage::acls);
        PARTS.put("scram", MetadataImage::scram);
        PARTS.put("delegationTokens", MetadataImage::delegationTokens);
    }

    private record Entry(long offset, ApiMessage message) { }

    public static void main(String[] arguments) throws Exception {
        Path directory = Path.of(arguments[0]);
        List<Entry> log = new ArrayList<>();
        for (Path segment : files(directory, ".log")) {
            log.addAll(entries(segment));
        }
        if (!Files.exists(directory.resolve("00000000000000000000.log"))) {
            throw new IllegalStateException("the log does not begin at 0");
        }
        int next = 0;
        MetadataImage image = MetadataImage.EMPTY;
        for (Path file : files(directory, ".checkpoint")) {
            long end = Long.parseLong(file.getFileName().toString().split("-")[0]);
            if (end == 0) {
                continue;
            }
            int from = next;
            while (next < log.size() && log.get(next).offset() < end) {
                next++;
            }
            image = replay(image, log.subList(from, next));
            compare(end, image, replay(MetadataImage.EMPTY, entries(file)));
        }
    }

    private static void compare(long end, MetadataImage log, MetadataImage snapshot) {
        boolean equal = true;
        for (Map.Entry<String, Function<MetadataImage, Object>> part : PARTS.entrySet()) {
            Object expected = part.getValue().apply(log);
            Object found = part.getValue().apply(snapshot);
            if (!expected.equals(found)) {
                equal = false;
                System.out.println("differs " + end + " " + part.getKey());
                System.out.println("  log:      " + expected);
                System.out.println("  snapshot: " + found);
            }
        }
        if (equal) {
            System.out.println("equal " + end);
        }
    }

    private static MetadataImage replay(MetadataImage image, List<Entry> entries) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        entries.forEach(entry -> delta.replay(entry.message()));
        return delta.apply(MetadataProvenance.EMPTY);
    }

    private static List<Path> files(Path directory, String suffix) throws Exception {
        try (Stream<Path> found = Files.list(directory)) {
            return found.filter(path -> path.toString().endsWith(suffix)).sorted().toList();
        }
    }

    private static List<Entry> entries(Path file) throws Exception {
        List<Entry> entries = new ArrayList<>();
        try (FileRecords records = FileRecords.open(file.toFile(), false)) {
            for (RecordBatch batch : records.batches()) {
                if (batch.isControlBatch()) {
                    continue;
                }
                for (Record record : batch) {
                    ByteBuffer value = record.value();
                    ApiMessage message = MetadataRecordSerde.INSTANCE
                        .read(new ByteBufferAccessor(value), value.remaining()).message();
                    if (!isMarker(message)) {
                        entries.add(new Entry(record.offset(), message));
                    }
                }
            }
        }
        return entries;
    }

    private static boolean isMarker(ApiMessage message) {
        return switch (MetadataRecordType.fromId(message.apiKey())) {
            case BEGIN_TRANSACTION_RECORD, END_TRANSACTION_RECORD, ABORT_TRANSACTION_RECORD -> true;
            default -> false;
        };
    }
}
