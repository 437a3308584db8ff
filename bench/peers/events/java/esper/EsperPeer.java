import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.EventBean;
import com.espertech.esper.common.client.EventSender;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import com.espertech.esper.runtime.client.EPStatement;
import java.util.concurrent.TimeUnit;

/**
 * Esper, with one module of EPL, in the clock of the events: microseconds. Events are arrays, sent by the senders of their
 * types. A module whose windows go by the events' own times says so in its first line, and the clock stands still.
 */
final class EsperPeer implements Bench.Pass {
    private static int made;

    private final Stream stream;
    private final EPRuntime runtime;
    private final EPEventService service;
    private final EventSender[] byKind = new EventSender[128];
    private final Object[][] events;
    private final boolean clock;

    EsperPeer(String workload, String query, Stream stream, Tally tally) throws Exception {
        this.stream = stream;
        clock = !query.startsWith("// no clock");
        Configuration configuration = new Configuration();
        configuration.getCommon().getTimeSource().setTimeUnit(TimeUnit.MICROSECONDS);
        configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
        EPCompiled compiled = EPCompilerProvider.getCompiler().compile(query, new CompilerArguments(configuration));
        runtime = EPRuntimeProvider.getRuntime("pass " + made++, configuration);
        service = runtime.getEventService();
        service.advanceTime(0);
        for (EPStatement statement : runtime.getDeploymentService().deploy(compiled).getStatements()) {
            if (statement.getName().equals("found")) {
                statement.addListener((found, left, own, where) -> {
                    for (EventBean match : found == null ? new EventBean[0] : found) {
                        tally.shown(workload, (Object[]) match.getUnderlying());
                    }
                });
            }
        }
        for (char kind : Stream.kinds(workload)) {
            byKind[kind] = service.getEventSender(String.valueOf(kind));
        }
        events = new Object[stream.rows][];
        for (int row = 0; row < stream.rows; row++) {
            events[row] = stream.event(workload, row);
        }
    }

    @Override
    public void play() {
        for (int row = 0; row < stream.rows; row++) {
            if (clock) {
                service.advanceTime(stream.time[row]);
            }
            byKind[stream.kind[row]].sendEvent(events[row]);
        }
        service.advanceTime(stream.end());
    }

    @Override
    public void close() {
        runtime.destroy();
    }

    public static void main(String[] words) throws Exception {
        Bench.run(words, EsperPeer::new);
    }
}
