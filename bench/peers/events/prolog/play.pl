% Plays a stream to ETALIS: swipl play.pl -- ETALIS RULES CSV.  Prints a line of JSON.
:- use_module(library(csv)).
:- dynamic(found/2).

found(0, 0).

% A match, told by the last condition of a rule: the sum of its rows by their places.
tally(Expression) :-
    Rows is Expression,
    retract(found(Matches, Sum)),
    More is Matches + 1,
    Total is Sum + Rows,
    assertz(found(More, Total)).

% An event as ETALIS takes it: all within one second, counted by their rows, so that each is later than the one before.
events([], _, []).
events([row(Time, Key, Value, Letter) | Rows], Row, [event(Event, [At, At]) | Events]) :-
    downcase_atom(Letter, Kind),
    Event =.. [Kind, Key, Value, Time, Row],
    At = datime(2024, 1, 1, 0, 0, 0, Row),
    Next is Row + 1,
    events(Rows, Next, Events).

play([]).
play([Event | Events]) :-
    ignore(call(Event)),
    play(Events).

main :-
    current_prolog_flag(argv, [Etalis, Rules, Csv]),
    consult(Etalis),
    set_etalis_flag(event_consumption_policy, unrestricted),
    compile_event_file(Rules),
    csv_read_file(Csv, [_ | Rows]),
    events(Rows, 0, Events),
    get_time(Began),
    statistics(cputime, Before),
    play(Events),
    statistics(cputime, After),
    get_time(Ended),
    found(Matches, Sum),
    Seconds is Ended - Began,
    Busy is After - Before,
    format('{"matches": ~d, "sum": ~d, "seconds": ~6f, "busy": ~6f}~n', [Matches, Sum, Seconds, Busy]).

:- initialization(main, main).
