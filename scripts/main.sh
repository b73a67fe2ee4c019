#!/bin/sh
# Starts main.ts with the options of Node that its roles need: V8 takes them only at its start, and NODE_OPTIONS takes only some of them.
# cli/node-options.ts has the same ones, with the reasons.
set -eu
# Where the user is: folders in commands are theirs.
INIT_CWD=${INIT_CWD:-$PWD}
export INIT_CWD
cd "$(dirname "$0")/.."
options=
case ${1:-} in
  start | api | jobs | voice)
    case " $* " in
      *' voice '*)
        options='--single-threaded-gc'
        case $(node --version) in v22.*) options="--experimental-async-context-frame $options" ;; esac ;;
      *' start '* | *' api '*) options='--concurrent-marking-max-worker-num=1' ;;
    esac ;;
esac
# shellcheck disable=SC2086 # one word an option
exec node $options main.ts "$@"
