#!/bin/sh
# Sees to a Chromium for the browser tests: Debian's, where it may be installed. It never fails: where
# there is none, the tests that need it are skipped, and this says so.
for name in "${CHROMIUM:-chromium}" chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "installing Debian's chromium for the browser tests"
    export DEBIAN_FRONTEND=noninteractive
    install() { apt-get install -y -qq --no-install-recommends chromium >/dev/null 2>&1; }
    install || { apt-get update -qq >/dev/null 2>&1 && install; } ||
        echo "chromium could not be installed: the browser tests of the portal are skipped"
else
    echo "there is no chromium, and it may not be installed: the browser tests of the portal are skipped"
fi
exit 0
