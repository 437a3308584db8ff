/** What was found: how many matches, the sum of their rows by their places (1a + 3b + 5c), and of their deadlines. */
final class Tally {
    static final long SECOND = 1_000_000;

    long matches;
    long sum;
    long dues;

    /** A match of W1, W2 or W4: its rows; of W2 the first, the last of the fall, the one behind it. */
    void rows(int... rows) {
        matches++;
        for (int place = 0; place < rows.length; place++) {
            sum += (2L * place + 1) * rows[place];
        }
    }

    /** A match of W3: the request's row and time. */
    void unanswered(int row, long asked) {
        rows(row);
        dues += asked + 5 * SECOND;
    }

    /** A match as an engine shows it: the rows; in W3 row and time. */
    void shown(String workload, Object[] match) {
        if (workload.equals("W3")) {
            unanswered((Integer) match[0], (Long) match[1]);
        } else {
            matches++;
            for (int place = 0; place < match.length; place++) {
                sum += (2L * place + 1) * (Integer) match[place];
            }
        }
    }
}
