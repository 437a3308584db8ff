import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** A workload's rows in memory, in the order of time. A row's number counts from 0. */
final class Stream {
    final int rows;
    final long[] time; // microseconds
    final int[] key;
    final int[] value; // a price in cents; the row's number in W4
    final char[] kind; // T; Q, R; A, B, C

    private Stream(int rows, long[] time, int[] key, int[] value, char[] kind) {
        this.rows = rows;
        this.time = time;
        this.key = key;
        this.value = value;
        this.kind = kind;
    }

    /** Reads time_us,key,value,kind. */
    static Stream read(Path csv) throws IOException {
        int rows = 0;
        long[] time = new long[1024];
        int[] key = new int[1024], value = new int[1024];
        char[] kind = new char[1024];
        try (BufferedReader lines = Files.newBufferedReader(csv)) {
            lines.readLine();
            for (String line = lines.readLine(); line != null; line = lines.readLine(), rows++) {
                if (rows == time.length) {
                    time = Arrays.copyOf(time, 2 * rows);
                    key = Arrays.copyOf(key, 2 * rows);
                    value = Arrays.copyOf(value, 2 * rows);
                    kind = Arrays.copyOf(kind, 2 * rows);
                }
                String[] cells = line.split(",");
                time[rows] = Long.parseLong(cells[0]);
                key[rows] = Integer.parseInt(cells[1]);
                value[rows] = Integer.parseInt(cells[2]);
                kind[rows] = cells[3].charAt(0);
            }
        }
        return new Stream(rows, time, key, value, kind);
    }

    /** Returns the first rows. */
    Stream first(int rows) {
        return new Stream(Math.min(rows, this.rows), time, key, value, kind);
    }

    /** Returns an event as an engine with named fields takes it: row, time, key, and in W1 and W2 the price. */
    Object[] event(String workload, int row) {
        return workload.equals("W1") || workload.equals("W2")
                ? new Object[] {row, time[row], key[row], (double) value[row]}
                : new Object[] {row, time[row], key[row]};
    }

    /** Returns the kinds of a workload's events. */
    static char[] kinds(String workload) {
        switch (workload) {
            case "W1":
            case "W2":
                return new char[] {'T'};
            case "W3":
                return new char[] {'Q', 'R'};
            case "W4":
                return new char[] {'A', 'B', 'C'};
            default:
                throw new IllegalArgumentException(workload + ": known are W1, W2, W3, W4");
        }
    }

    /** Returns a time after which nothing is open any more. */
    long end() {
        return rows == 0 ? 0 : time[rows - 1] + 3_600_000_000L;
    }
}
