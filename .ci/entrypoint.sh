#!/bin/sh
# What a container of the image does.
#   start    (the default) brings the database to this image, then serves the API
#   prepare  brings the database to this image and ends: schema, then the corpus; documents that did not change
#            are left alone, so that an image with the same corpus starts at once
#   others   are run as they are: `docker run … anamnesis reembed`
# `start` prepares where it has the administrator's URL, and where no URL is given: then the database is the embedded
# one in the volume. With the engine's URL alone it only serves.
set -eu

prepare() {
  anamnesis migrate --bootstrap
  anamnesis seed
}

case "${1:-start}" in
  start)
    if [ -n "${ANAMNESIS_ADMIN_URL:-}" ] || [ -z "${ANAMNESIS_ENGINE_URL:-}" ]; then prepare; fi
    # What serves knows neither the administrator's password nor the console's.
    unset ANAMNESIS_ADMIN_URL ANAMNESIS_CONSOLE_URL
    exec anamnesis serve
    ;;
  prepare)
    prepare
    ;;
  *)
    exec "$@"
    ;;
esac
