import org.apache.kafka.common.protocol.Errors;

/** Prints the code and the standard text of each error. */
public class ErrorTexts {
    public static void main(String[] arguments) {
        for (Errors error : Errors.values())
            System.out.println(error.code() + "\t" + error.message());
    }
}
