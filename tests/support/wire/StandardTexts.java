import org.apache.kafka.common.protocol.Errors;

/** Prints the name and the standard text of each error. */
public class StandardTexts {
    public static void main(String[] arguments) {
        for (Errors error : Errors.values())
            System.out.println(error.name() + "\t" + error.message());
    }
}
