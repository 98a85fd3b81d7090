import org.apache.kafka.common.message.ApiMessageType.ListenerType;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.server.common.Feature;
import org.apache.kafka.server.common.MetadataVersion;

/** Prints what each metadata.version that Kafka knows allows, and the levels of the other features there;
 * and the APIs of a controller listener. */
public class LevelsTable {
    public static void main(String[] arguments) {
        for (MetadataVersion level : MetadataVersion.values()) {
            if (level.featureLevel() < MetadataVersion.MINIMUM_VERSION.featureLevel()) {
                continue;
            }
            StringBuilder row = new StringBuilder("level ");
            row.append(level.featureLevel()).append(' ').append(level);
            boolean[] answers = {
                level.didMetadataChange(),
                level.isProduction(),
                level.isLeaderEpochBumpRequiredOnIsrShrink(),
                level.isMetadataTransactionSupported(),
                level.isScramSupported(),
                level.isDelegationTokenSupported(),
                level.isControllerRegistrationSupported(),
                level.isDirectoryAssignmentSupported(),
                level.isElrSupported(),
                level.isCordonedLogDirsSupported(),
                level.isCidrAclSupported(),
                level.isControllerUnregistrationSupported(),
            };
            for (boolean answer : answers) {
                row.append(' ').append(answer ? 1 : 0);
            }
            row.append(' ').append(level.registerBrokerRecordVersion());
            row.append(' ').append(level.partitionRecordVersion());
            row.append(' ').append(level.partitionChangeRecordVersion());
            for (Feature feature : Feature.PRODUCTION_FEATURES) {
                row.append(' ').append(feature.featureName()).append('=').append(feature.defaultLevel(level));
            }
            System.out.println(row);
        }
        for (Feature feature : Feature.PRODUCTION_FEATURES) {
            int low = feature.minimumProduction();
            System.out.println("feature " + feature.featureName() + " " + low + " " + feature.latestProduction());
        }
        for (ApiKeys api : ApiKeys.apisForListener(ListenerType.CONTROLLER)) {
            System.out.println("api " + api.id + " " + api.oldestVersion() + " " + api.latestVersion());
        }
    }
}
