#!/usr/bin/env bash
# Tests of the production models' loaders on tiny models that are made on disk. Not a part of `.ci/run`: it installs
# PyTorch (some 3 GB with all else). A fresh environment each time; KEEP=folder leaves it there, or takes what is there.
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
TESTS="tests/models/test_local.py tests/models/test_sentence_transformer.py tests/models/test_cross_encoder.py
  tests/models/test_registry.py tests/models/test_startup.py tests/retrieval/test_rerank.py"

if [ -n "${KEEP:-}" ]; then
  venv=$KEEP
else
  venv=$(mktemp -d "${TMPDIR:-/tmp}/anamnesis-models.XXXXXX")
  trap 'rm -rf "$venv"' EXIT
fi
if [ ! -f "$venv/.ready" ]; then
  "$PYTHON" -m venv "$venv"
  pip="$venv/bin/python -m pip --disable-pip-version-check"
  # By itself and first: asked for by another package, PyPI's torch for Linux is a CUDA build of several GB.
  # Elsewhere TORCH_INDEX names the address of PyTorch's CPU wheels.
  $pip install --quiet ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch==2.13.0
  $pip install --quiet --require-hashes --no-deps -r .ci/requirements/embedders.txt
  $pip install --quiet -c .ci/requirements/constraints.txt -e '.[models,dev]'
  touch "$venv/.ready"
fi
# Without the libraries the tests would skip, and a run of nothing would look green.
"$venv/bin/python" -c 'import sentence_transformers, torch; print("torch", torch.__version__, end=", ")
print("sentence-transformers", sentence_transformers.__version__)'
du -sm "$venv" | awk '{print "environment: " $1 " MB"}'
# shellcheck disable=SC2086
HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false "$venv/bin/python" -m pytest $TESTS "$@"
