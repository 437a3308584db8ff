#!/bin/sh
# The system programs that some tests drive: Graphviz, a headless browser, Java for Spark and HermiT, Valgrind.
#   system_packages.sh            installs what is missing in CI, as root; elsewhere it names it in one line
#   system_packages.sh install    installs what is missing
# Without them those tests skip, and say so.
set -u
missing="" skipped=""
want() {  # a package, and what is skipped without it
    missing="$missing $1"
    skipped="${skipped:+$skipped, }$2"
}
command -v dot >/dev/null || want graphviz "drawings by the system's Graphviz"
command -v chromium >/dev/null || want chromium "the inspector in a browser"
command -v chromedriver >/dev/null || missing="$missing chromium-driver"
command -v java >/dev/null || want openjdk-17-jre-headless "Spark, the description logic reasoner"
[ -e /usr/include/valgrind/callgrind.h ] || want valgrind "instructions a triple"
[ -n "$missing" ] || exit 0

if [ "${1:-}" != install ] && { [ -z "${CI:-}" ] || [ "$(id -u)" != 0 ]; }; then
    echo "not installed:$missing (make system-packages installs them); skipped without them: $skipped"
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "only root, with apt-get, can install$missing; skipped without them: $skipped"
    [ "${1:-}" != install ]
    exit
fi
echo "installing$missing for the tests (once)"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
{ apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >/dev/null 2>&1 || {
    echo "could not install$missing; skipped without them: $skipped"
    [ "${1:-}" != install ]
    exit
}
