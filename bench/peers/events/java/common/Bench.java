import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Locale;

/** Plays a stream's first rows to engines that are thrown away, until their code is compiled; then all of it by the clock. */
final class Bench {
    private static final int WARM_UP_ROWS = 100_000;
    private static final int WARM_UP_PASSES = 3; // at least, unless they take too long
    private static final int TOO_LONG = 6; // times the seconds of warm-up

    /** An engine with one query, and the events of a stream as it takes them; for one pass. */
    interface Pass {
        void play() throws Exception;

        void close() throws Exception;
    }

    /** Makes the engine and the events: this is not measured. */
    interface Peer {
        Pass pass(String workload, String query, Stream stream, Tally tally) throws Exception;
    }

    private Bench() {}

    /** Arguments: workload, the query's text, CSV, seconds of warm-up. Prints a line of JSON. */
    static void run(String[] words, Peer peer) throws Exception {
        Stream stream = Stream.read(Path.of(words[2]));
        Stream warm = stream.first(WARM_UP_ROWS);
        double spent = 0;
        double wanted = Double.parseDouble(words[3]);
        for (int pass = 0; spent < wanted || pass < WARM_UP_PASSES && spent < TOO_LONG * wanted; pass++) {
            spent += timed(peer.pass(words[0], words[1], warm, new Tally()));
        }
        Tally tally = new Tally();
        Pass pass = peer.pass(words[0], words[1], stream, tally);
        System.gc();
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long busy = system.getProcessCpuTime();
        double seconds = timed(pass);
        busy = system.getProcessCpuTime() - busy;
        String line = "{\"matches\": %d, \"sum\": %s, \"dues\": %s, \"seconds\": %.9f, \"busy\": %.9f}";
        String sum = Long.toUnsignedString(tally.sum);
        String dues = words[0].equals("W3") ? Long.toUnsignedString(tally.dues) : "null";
        System.out.println(String.format(Locale.ROOT, line, tally.matches, sum, dues, seconds, busy / 1e9));
        System.exit(0); // whatever threads an engine may have left
    }

    private static double timed(Pass pass) throws Exception {
        long began = System.nanoTime();
        pass.play();
        double seconds = (System.nanoTime() - began) / 1e9;
        pass.close();
        return seconds;
    }
}
