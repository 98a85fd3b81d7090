// The first line has the names of loggers, separated by commas, which then exist. For each line
// "name TAB operation:logger:level;..." what Kafka's RuntimeLoggerManager answers, and their levels afterwards.
// A level "-" is null; the operation is a number.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import kafka.server.logger.RuntimeLoggerManager;

import org.apache.kafka.common.message.IncrementalAlterConfigsRequestData.AlterConfigsResource;
import org.apache.kafka.common.message.IncrementalAlterConfigsRequestData.AlterableConfig;
import org.apache.kafka.common.requests.ApiError;
import org.apache.kafka.server.logger.LoggingController;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.core.LoggerContext;
import org.slf4j.LoggerFactory;

public class LogLevelsOracle {
    private static final List<Logger> KEPT = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        String[] names = in.readLine().split(",");
        // Of the context that Kafka's class looks at; loggers that nothing refers to may vanish.
        LoggerContext context =
            (LoggerContext) LogManager.getContext(LoggingController.class.getClassLoader(), false);
        for (String name : names) {
            KEPT.add(context.getLogger(name));
        }
        LoggingController.logLevel("root", "INFO");
        RuntimeLoggerManager manager = new RuntimeLoggerManager(3000, LoggerFactory.getLogger("oracle"));
        List<String> out = new ArrayList<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.add(answer(manager, line.split("\t", -1)) + levels(names));
        }
        System.out.print("answers\n" + String.join("", out));
    }

    private static String answer(RuntimeLoggerManager manager, String[] parts) {
        AlterConfigsResource resource = new AlterConfigsResource().setResourceType((byte) 8)
            .setResourceName(parts[0]);
        for (String change : parts[1].split(";")) {
            String[] fields = change.split(":", -1);
            resource.configs().add(new AlterableConfig().setConfigOperation(Byte.parseByte(fields[0]))
                .setName(fields[1]).setValue(fields[2].equals("-") ? null : fields[2]));
        }
        try {
            manager.applyChangesForResource(true, false, resource);
            return "0\tnull";
        } catch (Throwable failure) {
            ApiError error = ApiError.fromThrowable(failure);
            return error.error().code() + "\t" + error.messageWithFallback();
        }
    }

    private static String levels(String[] names) {
        Map<String, String> levels = LoggingController.loggers();
        StringBuilder out = new StringBuilder("\troot=" + levels.get("root"));
        for (String name : names) {
            out.append(',').append(name).append('=').append(levels.get(name));
        }
        return out.append('\n').toString();
    }
}
