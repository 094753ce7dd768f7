import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.net.URL;
import java.net.URLClassLoader;

/**
 * Runs TLC for each line of the input, which has its arguments with tabs between them, and prints a line with the exit code.
 *
 * The first argument is the jar of TLC. Each run loads its classes anew: those of TLC keep open files and buffers in static fields,
 * which a second run would share with what is left of the first.
 */
public class ManyModels {
    public static void main(String[] arguments) throws Exception {
        URL[] jar = {new File(arguments[0]).toURI().toURL()};
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null;) {
            try (URLClassLoader classes = new URLClassLoader(jar, ClassLoader.getPlatformClassLoader())) {
                System.out.println("\nmodel ended with code " + run(classes, line.split("\t")));
            }
        }
        System.exit(0);
    }

    private static Object run(ClassLoader classes, String[] words) throws Exception {
        Class<?> tlc = classes.loadClass("tlc2.TLC"), resolver = classes.loadClass("util.FilenameToStream");
        Object one = tlc.getDeclaredConstructor().newInstance();
        if (!(boolean) tlc.getMethod("handleParameters", String[].class).invoke(one, (Object) words)) System.exit(1);
        Object files = classes.loadClass("util.SimpleFilenameToStream").getDeclaredConstructor().newInstance();
        tlc.getMethod("setResolver", resolver).invoke(one, files);
        int code = (int) tlc.getMethod("process").invoke(one);
        return classes.loadClass("tlc2.output.EC$ExitStatus").getMethod("errorConstantToExitStatus", int.class).invoke(null, code);
    }
}
