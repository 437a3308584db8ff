#!/bin/sh
# Install the system programs that some tests drive: Graphviz, a headless browser, Java for Spark, Valgrind.
# Without root or without apt-get those tests skip, and say so.
set -u
missing=""
command -v dot >/dev/null || missing="$missing graphviz"
command -v chromium >/dev/null || missing="$missing chromium"
command -v chromedriver >/dev/null || missing="$missing chromium-driver"
command -v java >/dev/null || missing="$missing openjdk-17-jre-headless"
[ -e /usr/include/valgrind/callgrind.h ] || missing="$missing valgrind"
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing$missing for the tests (once)"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends $missing; } >/dev/null 2>&1 ||
        echo "could not install$missing: the tests that need them will be skipped"
else
    echo "not installed:$missing: the tests that need them will be skipped"
fi
exit 0
