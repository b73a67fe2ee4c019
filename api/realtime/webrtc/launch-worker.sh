#!/bin/sh
# A session of its own where that can be had: Ctrl-C in a terminal reaches Patchbay alone, which lets its calls end.
if command -v setsid >/dev/null; then exec setsid "$PATCHBAY_MEDIA_WORKER" "$@"; fi
exec "$PATCHBAY_MEDIA_WORKER" "$@"
