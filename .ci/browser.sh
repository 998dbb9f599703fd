#!/bin/sh
# See to Debian's Chromium for the tests that drive a browser, where this may install it.
# Without it those tests are skipped; in CI (CI=true) that is an error.
set -eu
BROWSER=/usr/bin/chromium

if [ -x "$BROWSER" ]; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "Installing Chromium for the browser tests ..."
  export DEBIAN_FRONTEND=noninteractive
  if apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core > /dev/null; then
    exit 0
  fi
fi
if [ "${CI:-}" = true ]; then
  echo "CI needs Chromium for the browser tests, and it could not be installed." >&2
  exit 1
fi
echo "No Chromium: the browser tests will be skipped. On Debian: apt-get install chromium"
