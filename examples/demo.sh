#!/bin/sh
# Runs the examples: sh examples/demo.sh [path of the retewave command]
set -eu
retewave=${1:-retewave}
here=$(dirname "$0")

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }
run() { printf '$ retewave %s\n' "$*" | sed "s|$here/|examples/|g"; "$retewave" "$@"; }
[ -t 1 ] || say() { printf '\n%s\n' "$1"; }

say "1. The same person talks about the same place on Twitter and on Facebook (Sparkwave paper, Figure 4)."
echo "The query says sioc:creator_of and sma:talksAbout; the streams say twd:post, fb:update, fb:mentions."
social() {
  run run "$here/social/$1" --format csv \
    --schema "$here/social/ontology.ttl" \
    --dataset "http://foaf.example.org/friends.rdf=$here/social/friends.ttl" \
    --stream "http://facebook.example.org/update/stream=$here/social/facebook.trig" \
    --stream "http://twitter.example.org/update/stream=$here/social/twitter.trig" \
    --time-property http://www.w3.org/ns/prov#generatedAtTime
}
social query.rq
echo "Four times, because two triples each say that tweet456 is a tweet, and two that post123 is a status update."
echo "With DISTINCT a match is reported once while it lives:"
social distinct.rq

say "2. Two thermometers of one room read above 30 degrees within two seconds (one reading a second)."
run run "$here/sensors/overheating.rq" --format csv \
  --schema "$here/sensors/ontology.ttl" --static "$here/sensors/rooms.ttl" \
  --stream "http://example.org/readings=$here/sensors/readings.nt" --rate 1

say "3. A pattern file of the original Sparkwave, as it is; it builds triples."
run run "$here/sensors/overheating.tpg" --stream "$here/sensors/readings.nt" --rate 1

say "4. Who asks, and gets no answer for five seconds?  examples/time has a query for each operator of time."
run run "$here/time/not_after.rq" --format csv --stream "$here/time/desk.trig" \
  --time-property http://www.w3.org/ns/prov#generatedAtTime

say "5. Two rules follow the roads that are open; who can get to the church?  What a rule builds comes in again."
run run "$here/rules/begin.rq" "$here/rules/go_on.rq" "$here/rules/church.rq" --format csv \
  --static "$here/rules/roads.ttl" --stream "$here/rules/town.trig" \
  --time-property http://www.w3.org/ns/prov#generatedAtTime
