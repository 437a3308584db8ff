import io.siddhi.core.SiddhiAppRuntime;
import io.siddhi.core.SiddhiManager;
import io.siddhi.core.event.Event;
import io.siddhi.core.stream.input.InputHandler;
import io.siddhi.core.stream.output.StreamCallback;

/** Siddhi, with one app, in the clock of the events. It counts milliseconds; these are taken for microseconds. */
final class SiddhiPeer implements Bench.Pass {
    private final Stream stream;
    private final SiddhiManager manager = new SiddhiManager();
    private final SiddhiAppRuntime runtime;
    private final InputHandler[] byKind = new InputHandler[128];
    private final InputHandler ends;
    private final Event[] events;

    SiddhiPeer(String workload, String query, Stream stream, Tally tally) {
        this.stream = stream;
        runtime = manager.createSiddhiAppRuntime(query);
        runtime.addCallback("Found", new StreamCallback() {
            @Override
            public void receive(Event[] found) {
                for (Event match : found) {
                    tally.shown(workload, match.getData());
                }
            }
        });
        runtime.start();
        for (char kind : Stream.kinds(workload)) {
            byKind[kind] = runtime.getInputHandler(String.valueOf(kind));
        }
        ends = runtime.getInputHandler("Ends");
        events = new Event[stream.rows];
        for (int row = 0; row < stream.rows; row++) {
            events[row] = new Event(stream.time[row], stream.event(workload, row));
        }
    }

    @Override
    public void play() throws InterruptedException {
        for (int row = 0; row < stream.rows; row++) {
            byKind[stream.kind[row]].send(events[row]);
        }
        ends.send(new Event(stream.end(), new Object[] {0}));
    }

    @Override
    public void close() {
        runtime.shutdown();
        manager.shutdown();
    }

    public static void main(String[] words) throws Exception {
        Bench.run(words, SiddhiPeer::new);
    }
}
