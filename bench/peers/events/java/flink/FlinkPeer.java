import java.io.Serializable;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.cep.nfa.NFA;
import org.apache.flink.cep.nfa.NFAState;
import org.apache.flink.cep.nfa.aftermatch.AfterMatchSkipStrategy;
import org.apache.flink.cep.nfa.compiler.NFACompiler;
import org.apache.flink.cep.nfa.sharedbuffer.SharedBuffer;
import org.apache.flink.cep.nfa.sharedbuffer.SharedBufferAccessor;
import org.apache.flink.cep.pattern.Pattern;
import org.apache.flink.cep.pattern.conditions.IterativeCondition;
import org.apache.flink.configuration.Configuration;

/** Flink CEP's automaton alone, called for each key as Flink's own operator does, with its state in hash maps. */
final class FlinkPeer implements Bench.Pass {
    private static final long SECOND = Tally.SECOND;

    static final class Event implements Serializable {
        final int row;
        final long time;
        final int key;
        final int price;
        final char kind;

        Event(Stream stream, int row) {
            this.row = row;
            time = stream.time[row];
            key = stream.key[row];
            price = stream.value[row];
            kind = stream.kind[row];
        }
    }

    /** What is true of an event, and of the first one of its run. */
    interface Test extends Serializable {
        boolean holds(Event event, Event first);
    }

    static final class Kind extends IterativeCondition<Event> {
        private final char kind;

        Kind(char kind) {
            this.kind = kind;
        }

        @Override
        public boolean filter(Event event, Context<Event> run) {
            return event.kind == kind;
        }
    }

    static final class Compared extends IterativeCondition<Event> {
        private final Test test;

        Compared(Test test) {
            this.test = test;
        }

        @Override
        public boolean filter(Event event, Context<Event> run) throws Exception {
            return test.holds(event, run.getEventsForPattern("a").iterator().next());
        }
    }

    /** Whether a price is below the one before it in the run. */
    static final class Falls extends IterativeCondition<Event> {
        @Override
        public boolean filter(Event event, Context<Event> run) throws Exception {
            Event before = run.getEventsForPattern("a").iterator().next();
            for (Event each : run.getEventsForPattern("b")) {
                before = each;
            }
            return event.price < before.price;
        }
    }

    /** One map of the shared buffer: a hash map for each key. */
    final class Kept<K, V> implements MapState<K, V> {
        private final Map<Integer, Map<K, V>> all = new HashMap<>();

        private Map<K, V> own() {
            return all.computeIfAbsent(key, k -> new HashMap<>());
        }

        @Override public V get(K k) { return own().get(k); }
        @Override public void put(K k, V v) { own().put(k, v); }
        @Override public void putAll(Map<K, V> more) { own().putAll(more); }
        @Override public void remove(K k) { own().remove(k); }
        @Override public boolean contains(K k) { return own().containsKey(k); }
        @Override public Iterable<Map.Entry<K, V>> entries() { return own().entrySet(); }
        @Override public Iterable<K> keys() { return own().keySet(); }
        @Override public Iterable<V> values() { return own().values(); }
        @Override public Iterator<Map.Entry<K, V>> iterator() { return own().entrySet().iterator(); }
        @Override public boolean isEmpty() { return own().isEmpty(); }
        @Override public void clear() { all.remove(key); }
    }

    private final String workload;
    private final Stream stream;
    private final Tally tally;
    private final Event[] events;
    private final NFA<Event> automaton;
    private final SharedBuffer<Event> buffer;
    private final List<Kept<?, ?>> kept = new ArrayList<>();
    private final Map<Integer, NFAState> states = new HashMap<>();
    private final AfterMatchSkipStrategy skip = AfterMatchSkipStrategy.noSkip();
    private int key;

    @SuppressWarnings({"unchecked", "rawtypes"})
    FlinkPeer(String workload, String query, Stream stream, Tally tally) throws Exception {
        this.workload = workload;
        this.stream = stream;
        this.tally = tally;
        events = new Event[stream.rows];
        for (int row = 0; row < events.length; row++) {
            events[row] = new Event(stream, row);
        }
        automaton = NFACompiler.<Event>compileFactory(pattern(workload), false).createNFA();
        automaton.open(absent(RuntimeContext.class, null), new Configuration());
        KeyedStateStore store = absent(KeyedStateStore.class, "getMapState");
        buffer = new SharedBuffer<>(store, (TypeSerializer) IntSerializer.INSTANCE); // nothing is ever serialised
    }

    /** Returns something that answers one method, with a new map, and has no other. */
    private <T> T absent(Class<T> type, String answered) {
        Object made = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, words) -> {
            if (!method.getName().equals(answered)) {
                throw new UnsupportedOperationException(method.getName());
            }
            kept.add(new Kept<>());
            return kept.get(kept.size() - 1);
        });
        return type.cast(made);
    }

    private static Pattern<Event, ?> pattern(String workload) {
        switch (workload) {
            case "W1":
                return Pattern.<Event>begin("a")
                        .followedByAny("b").where(new Compared((b, a) -> b.price < 0.7 * a.price))
                        .followedByAny("c").where(new Compared((c, a) -> c.price > 1.05 * a.price))
                        .within(micros(500 * SECOND + 1));
            case "W2":
                return Pattern.<Event>begin("a")
                        .next("b").where(new Falls()).oneOrMore().consecutive()
                        .next("c").where(new Compared((c, a) -> c.price > a.price))
                        .within(micros(60 * SECOND + 1));
            case "W3":
                return Pattern.<Event>begin("a").where(new Kind('Q'))
                        .notFollowedBy("b").where(new Kind('R'))
                        .within(micros(5 * SECOND + 1));
            default:
                return Pattern.<Event>begin("a").where(new Kind('A'))
                        .notFollowedBy("b").where(new Kind('B'))
                        .followedByAny("c").where(new Kind('C'))
                        .within(micros(10 * SECOND + 1));
        }
    }

    /** Flink counts milliseconds; these are taken for microseconds, as in the events' times. */
    private static Duration micros(long count) {
        return Duration.ofMillis(count);
    }

    @Override
    public void play() throws Exception {
        int due = 0;
        boolean deadlines = workload.equals("W3");
        for (Event event : events) {
            while (deadlines && due < event.row && events[due].time + 5 * SECOND < event.time) {
                due = told(due, event.time);
            }
            key = event.key;
            NFAState state = states.computeIfAbsent(key, k -> automaton.createInitialNFAState());
            try (SharedBufferAccessor<Event> accessor = buffer.getAccessor()) {
                automaton.advanceTime(accessor, state, event.time, skip);
                tell(automaton.process(accessor, state, event, event.time, skip, () -> 0));
            }
        }
        while (deadlines && due < events.length) {
            due = told(due, stream.end());
        }
    }

    /** Lets a request's deadline pass; returns the next row to look at. */
    private int told(int row, long now) throws Exception {
        if (events[row].kind == 'Q') {
            key = events[row].key;
            try (SharedBufferAccessor<Event> accessor = buffer.getAccessor()) {
                tell(automaton.advanceTime(accessor, states.remove(key), now, skip).f0);
            }
            kept.forEach(Kept::clear); // an id comes once: nothing of it is asked for again
        }
        return row + 1;
    }

    private void tell(Collection<Map<String, List<Event>>> found) {
        for (Map<String, List<Event>> match : found) {
            Event a = match.get("a").get(0);
            if (workload.equals("W1")) {
                tally.rows(a.row, match.get("b").get(0).row, match.get("c").get(0).row);
            } else if (workload.equals("W2")) {
                List<Event> fall = match.get("b");
                tally.rows(a.row, fall.get(fall.size() - 1).row, match.get("c").get(0).row);
            } else if (workload.equals("W3")) {
                tally.unanswered(a.row, a.time);
            } else {
                tally.rows(a.row, match.get("c").get(0).row);
            }
        }
    }

    @Override
    public void close() throws Exception {
        buffer.releaseCacheStatisticsTimer();
        automaton.close();
    }

    public static void main(String[] words) throws Exception {
        Bench.run(words, FlinkPeer::new);
    }
}
