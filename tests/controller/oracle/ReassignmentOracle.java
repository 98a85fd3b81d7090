// What Kafka's controller makes of a reassignment: for each line "replicas TAB target TAB isr", lists of brokers
// with commas, prints "removing TAB adding TAB replicas TAB completed". `completed` is "-" until it is complete, else
// "replicas;isr".

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

import org.apache.kafka.common.Uuid;
import org.apache.kafka.metadata.placement.PartitionAssignment;

public class ReassignmentOracle {
    private static final String REASSIGNMENT = "org.apache.kafka.controller.PartitionReassignmentReplicas";

    public static void main(String[] arguments) throws Exception {
        Constructor<?> start = Class.forName(REASSIGNMENT)
            .getDeclaredConstructor(PartitionAssignment.class, PartitionAssignment.class);
        start.setAccessible(true);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        StringBuilder out = new StringBuilder();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            Object started = start.newInstance(assignment(parts[0]), assignment(parts[1]));
            for (String list : new String[] {"removing", "adding", "replicas"}) {
                out.append(text(call(started, list))).append('\t');
            }
            Method complete = started.getClass().getDeclaredMethod("maybeCompleteReassignment", List.class);
            complete.setAccessible(true);
            Optional<?> completed = (Optional<?>) complete.invoke(started, list(parts[2]));
            if (completed.isPresent()) {
                out.append(text(call(completed.get(), "replicas"))).append(';');
                out.append(text(call(completed.get(), "isr"))).append('\n');
            } else {
                out.append("-\n");
            }
        }
        System.out.print(out);
    }

    private static PartitionAssignment assignment(String replicas) {
        return new PartitionAssignment(list(replicas), broker -> Uuid.ZERO_UUID);
    }

    private static Object call(Object target, String name) throws Exception {
        Method method = target.getClass().getDeclaredMethod(name);
        method.setAccessible(true);
        return method.invoke(target);
    }

    private static List<Integer> list(String text) {
        List<Integer> numbers = new ArrayList<>();
        for (String part : text.split(",")) {
            if (!part.isEmpty()) numbers.add(Integer.parseInt(part));
        }
        return numbers;
    }

    private static String text(Object numbers) {
        return ((List<?>) numbers).stream().map(String::valueOf).collect(Collectors.joining(","));
    }
}
