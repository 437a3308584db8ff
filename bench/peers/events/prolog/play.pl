% Plays a stream to ETALIS: swipl play.pl -- ETALIS POLICY STREAM RULES...  Prints a line of JSON.
% STREAM is a CSV of an event workload, or a file of terms: at(Milliseconds, Event), and facts known beforehand.
% Read before ETALIS makes operators of its own: `*` then binds as loosely as `seq`, so rules ask the conditions below.
:- use_module(library(assoc)).
:- use_module(library(csv)).
:- dynamic(found/2).
:- dynamic(barrier/2).
:- dynamic(width/1).

found(0, 0).

% A match, told by the last condition of a rule: the sum of its rows by their places.
tally :- told(0).
tally(A, B) :- Rows is A + 3 * B, told(Rows).
tally(A, B, C) :- Rows is A + 3 * B + 5 * C, told(Rows).

told(Rows) :-
    retract(found(Matches, Sum)),
    More is Matches + 1,
    Total is Sum + Rows,
    assertz(found(More, Total)).

% So many times the one is less than, or at most, so many times the other.
below(Times, Value, Others, Other) :- Times * Value < Others * Other.
at_most(Times, Value, Others, Other) :- Times * Value =< Others * Other.

% The later of two times is in the window, whose width is a fact of the stream: width(Milliseconds).
soon(From, To) :- width(Width), To =< From + Width.

% What stands in the way: of a key, at a row; and no such row between two.
remember(Key, Row) :- assertz(barrier(Key, Row)).
unbarred(Key, From, To) :- \+ (barrier(Key, Row), From < Row, Row < To).

% An event as ETALIS takes it: all within one second, counted by rows or milliseconds, which is all that is compared.
event_at(Count, Event, event(Event, [At, At])) :- At = datime(2024, 1, 1, 0, 0, 0, Count).

% Of a CSV: what it is, its key, value, time and row, and the row of the key's event before it, -1 where there is none.
events([], _, _, []).
events([row(Time, Key, Value, Letter) | Rows], Row, Lasts, [Event | Events]) :-
    downcase_atom(Letter, Kind),
    ( get_assoc(Key, Lasts, Before) -> true ; Before = -1 ),
    put_assoc(Key, Lasts, Row, Later),
    Happening =.. [Kind, Key, Value, Time, Row, Before],
    event_at(Row, Happening, Event),
    Next is Row + 1,
    events(Rows, Next, Later, Events).

split([], []).
split([at(Time, Happening) | Terms], [Event | Events]) :- !, event_at(Time, Happening, Event), split(Terms, Events).
split([Fact | Terms], Events) :- assertz(Fact), split(Terms, Events).

stream(Path, Events) :-
    file_name_extension(_, csv, Path), !,
    csv_read_file(Path, [_ | Rows]),
    empty_assoc(Lasts),
    events(Rows, 0, Lasts, Events).
stream(Path, Events) :-
    read_file_to_terms(Path, Terms, []),
    split(Terms, Events).

% Plays events one by one.  ETALIS collects its garbage by the wall clock; here what waits longer than the window goes by
% the events' own time, four times a window, so that no partial match costs what it need not.
play([], _).
play([Event | Events], Due) :-
    Event = event(_, [datime(_, _, _, _, _, _, Now) | _]),
    ( width(Width), Now > Due
    -> drop(Now - Width), Next is Now + Width // 4
    ; Next = Due ),
    ignore(call(Event)),
    play(Events, Next).

drop(Since) :-
    Before is Since,
    forall(clause(etr_db(datime(_, _, _, _, _, _, Last), _, _, _, _), true, Waits),
           ( Last < Before -> erase(Waits) ; true )).

main :-
    current_prolog_flag(argv, [Etalis, Policy, Stream | Rules]),
    stream(Stream, Events),
    consult(Etalis),
    set_etalis_flag(event_consumption_policy, Policy),
    maplist(compile_event_file, Rules),
    get_time(Began),
    statistics(cputime, Before),
    play(Events, 0),
    statistics(cputime, After),
    get_time(Ended),
    found(Matches, Sum),
    Seconds is Ended - Began,
    Busy is After - Before,
    format('{"matches": ~d, "sum": ~d, "seconds": ~6f, "busy": ~6f}~n', [Matches, Sum, Seconds, Busy]).

:- initialization(main, main).
