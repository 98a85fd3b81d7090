import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.Endpoint;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.MetadataRecordType;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.security.token.delegation.TokenInformation;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.metadata.MetadataRecordSerde;
import org.apache.kafka.metadata.PartitionRegistration;
import org.apache.kafka.metadata.VersionRange;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Replays records with Kafka's own MetadataImage and prints its state as JSON, in the columns of the state views.
 *
 * Reads lines: "record OFFSET HEX" replays one, "print NAME" prints the state, "reset" forgets everything.
 */
public class MetadataReplay {
    private static final Set<MetadataRecordType> MARKERS = Set.of(
        MetadataRecordType.BEGIN_TRANSACTION_RECORD,
        MetadataRecordType.END_TRANSACTION_RECORD,
        MetadataRecordType.ABORT_TRANSACTION_RECORD);

    private MetadataImage image = MetadataImage.EMPTY;

    public static void main(String[] arguments) throws Exception {
        MetadataReplay replay = new MetadataReplay();
        ObjectMapper json = new ObjectMapper();
        for (String line : Files.readAllLines(Path.of(arguments[0]))) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "record" -> replay.replay(Long.parseLong(words[1]), HexFormat.of().parseHex(words[2]));
                case "reset" -> replay.image = MetadataImage.EMPTY;
                default -> {
                    Map<String, Object> state = replay.state();
                    state.put("name", words[1]);
                    System.out.println(json.writeValueAsString(state));
                }
            }
        }
    }

    private void replay(long offset, byte[] value) {
        ApiMessage record = MetadataRecordSerde.INSTANCE
            .read(new ByteBufferAccessor(ByteBuffer.wrap(value)), value.length).message();
        if (MARKERS.contains(MetadataRecordType.fromId(record.apiKey()))) {
            return;
        }
        MetadataDelta delta = new MetadataDelta.Builder().setImage(image).build();
        delta.replay(record);
        image = delta.apply(new MetadataProvenance(offset, 1, 0, true));
    }

    private Map<String, Object> state() {
        Map<String, Object> state = new LinkedHashMap<>();
        List<Object> topics = new ArrayList<>();
        List<Object> partitions = new ArrayList<>();
        image.topics().topicsById().values().forEach(topic -> {
            topics.add(row("topic_id", text(topic.id()), "topic", topic.name(),
                "partitions", topic.partitions().size()));
            topic.partitions().forEach((id, partition) -> partitions.add(
                row(partition, "topic_id", text(topic.id()), "topic", topic.name(), "partition_id", id)));
        });
        state.put("topics", topics);
        state.put("partitions", partitions);
        cluster(state);
        settings(state);
        security(state);
        return state;
    }

    private void cluster(Map<String, Object> state) {
        List<Object> brokers = new ArrayList<>();
        image.cluster().brokers().values().forEach(broker -> brokers.add(row(
            "broker_id", broker.id(), "broker_epoch", broker.epoch(), "fenced", broker.fenced(),
            "in_controlled_shutdown", broker.inControlledShutdown(),
            "incarnation_id", text(broker.incarnationId()), "rack", broker.rack().orElse(null),
            "log_dirs", texts(broker.directories()), "cordoned_log_dirs", texts(broker.cordonedDirectories()),
            "end_points", endPoints(broker.listeners()), "features", ranges(broker.supportedFeatures()))));
        state.put("brokers", brokers);
        List<Object> controllers = new ArrayList<>();
        image.cluster().controllers().values().forEach(controller -> controllers.add(row(
            "controller_id", controller.id(), "incarnation_id", text(controller.incarnationId()),
            "zk_migration_ready", controller.zkMigrationReady(),
            "end_points", endPoints(controller.listeners()),
            "features", ranges(controller.supportedFeatures()))));
        state.put("controllers", controllers);
    }

    private void settings(Map<String, Object> state) {
        List<Object> configs = new ArrayList<>();
        image.configs().resourceData().forEach((resource, data) -> data.data().forEach((name, value) ->
            configs.add(row("resource_type", resource.type().name(), "resource_name", resource.name(),
                "name", name, "value", value))));
        state.put("configs", configs);
        List<Object> quotas = new ArrayList<>();
        image.clientQuotas().entities().forEach((entity, data) -> {
            List<Object> parts = new ArrayList<>();
            entity.entries().forEach((type, name) -> parts.add(row("entity_type", type, "entity_name", name)));
            data.quotas().forEach((key, value) -> quotas.add(row("entity", parts, "key", key, "value", value)));
        });
        state.put("quotas", quotas);
        List<Object> features = new ArrayList<>();
        image.features().finalizedVersions().forEach((name, level) ->
            features.add(row("name", name, "level", level)));
        image.features().metadataVersion().ifPresent(version ->
            features.add(row("name", MetadataVersion.FEATURE_NAME, "level", version.featureLevel())));
        state.put("features", features);
        long next = image.producerIds().nextProducerId();
        state.put("producer_ids", next < 0 ? List.of() : List.of(row("next_producer_id", next)));
    }

    private void security(Map<String, Object> state) {
        List<Object> acls = new ArrayList<>();
        image.acls().acls().forEach((id, acl) -> acls.add(row(
            "id", text(id), "resource_type", acl.resourceType().name(), "resource_name", acl.resourceName(),
            "pattern_type", acl.patternType().name(), "principal", acl.principal(), "host", acl.host(),
            "operation", acl.operation().name(), "permission", acl.permissionType().name())));
        state.put("acls", acls);
        List<Object> credentials = new ArrayList<>();
        image.scram().mechanisms().forEach((mechanism, users) -> users.forEach((user, data) -> credentials.add(
            row("user", user, "mechanism", mechanism.mechanismName(), "iterations", data.iterations()))));
        state.put("scram_credentials", credentials);
        List<Object> tokens = new ArrayList<>();
        image.delegationTokens().tokens().values().forEach(data -> {
            TokenInformation token = data.tokenInformation();
            tokens.add(row("token_id", token.tokenId(), "owner", token.ownerAsString(),
                "requester", token.tokenRequesterAsString(), "renewers", token.renewersAsString(),
                "issue_time", token.issueTimestamp(), "max_time", token.maxTimestamp(),
                "expiration_time", token.expiryTimestamp()));
        });
        state.put("delegation_tokens", tokens);
    }

    private static Map<String, Object> row(PartitionRegistration partition, Object... key) {
        Map<String, Object> row = row(key);
        row.putAll(row(
            "leader", partition.leader, "leader_epoch", partition.leaderEpoch,
            "partition_epoch", partition.partitionEpoch,
            "leader_recovery_state", partition.leaderRecoveryState.value(),
            "replicas", partition.replicas, "isr", partition.isr,
            "adding_replicas", partition.addingReplicas, "removing_replicas", partition.removingReplicas,
            "elr", partition.elr, "last_known_elr", partition.lastKnownElr,
            "directories", texts(Arrays.asList(partition.directories))));
        return row;
    }

    private static Map<String, Object> row(Object... namesAndValues) {
        Map<String, Object> row = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            row.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        return row;
    }

    private static List<Object> endPoints(Map<String, Endpoint> listeners) {
        return sorted(listeners.entrySet().stream().map(entry -> row(
            "name", entry.getKey(), "host", entry.getValue().host(), "port", entry.getValue().port(),
            "security_protocol", entry.getValue().securityProtocol().id)));
    }

    private static List<Object> ranges(Map<String, VersionRange> features) {
        return sorted(features.entrySet().stream().map(entry -> row("name", entry.getKey(),
            "min_supported_version", entry.getValue().min(), "max_supported_version", entry.getValue().max())));
    }

    private static List<Object> sorted(Stream<Map<String, Object>> rows) {
        return new ArrayList<>(rows.sorted((a, b) -> a.get("name").toString().compareTo(b.get("name").toString()))
            .toList());
    }

    private static String text(Uuid id) {
        return id.toString();
    }

    private static List<String> texts(Collection<Uuid> ids) {
        return ids == null ? null : ids.stream().map(Uuid::toString).toList();
    }
}
