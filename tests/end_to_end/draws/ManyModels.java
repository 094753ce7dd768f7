import java.io.BufferedReader;
import java.io.InputStreamReader;
import tlc2.TLC;
import tlc2.output.EC;
import util.SimpleFilenameToStream;
import util.ToolIO;

/** Runs TLC for each line of the input, which has its arguments with tabs between them, and prints a line with the exit code. */
public class ManyModels {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null;) {
            ToolIO.reset();
            TLC tlc = new TLC();
            if (!tlc.handleParameters(line.split("\t"))) System.exit(1);
            tlc.setResolver(new SimpleFilenameToStream());
            int code = EC.ExitStatus.errorConstantToExitStatus(tlc.process());
            System.out.println("\nmodel ended with code " + code);
        }
        System.exit(0);
    }
}
