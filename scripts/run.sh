#!/bin/sh
# What the npm scripts call: finds a Node that fits, installs what is missing, then becomes the program asked for.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }
fail() { say "patchbay: $*"; exit 1; }

# Runs a program so that Ctrl-C and SIGTERM reach it even when they are sent to this shell alone.
attended() {
  "$@" &
  child=$!
  trap 'kill -TERM "$child" 2>/dev/null || true' INT TERM HUP
  status=0
  wait "$child" || status=$?
  trap - INT TERM HUP
  return "$status"
}

# Node 22.18 and later run everywhere; 24 and 26 where the HTTP library's binaries for them load: on Linux with glibc 2.38 or later.
is_ours() {
  case $("$1" --version 2>/dev/null) in
    v22.1[89].* | v22.[2-9][0-9].*) return 0 ;;
    v24.* | v26.*)
      "$1" -e '
        process.report.excludeNetwork = true
        const [major, minor] = (process.report.getReport().header.glibcVersionRuntime ?? "0.0").split(".").map(Number)
        process.exit(process.platform !== "linux" || major > 2 || (major === 2 && minor >= 38) ? 0 : 1)' ;;
    *) return 1 ;;
  esac
}

# Puts a Node of ours first on PATH, so that npm and everything it starts run under it, too.
find_node() {
  if is_ours node; then return; fi
  cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/patchbay
  pinned=$(pinned_node)
  node22=$cache/node-${pinned%% *}/bin/node
  if [ -z "$pinned" ] || ! is_ours "$node22"; then fetch_node; fi
  PATH=$(dirname "$node22"):$PATH
  export PATH
}

# The version and digest of this platform in scripts/node.lock.
pinned_node() {
  command -v node >/dev/null || return 0
  platform=$(node -p 'process.platform + "-" + process.arch')
  sed -n "s/^$platform //p" scripts/node.lock
}

# Fetches the very Node that scripts/node.lock names: only what has its digest is unpacked and run.
fetch_node() {
  by_hand="install Node 22 from https://nodejs.org and start again"
  command -v npm >/dev/null && command -v node >/dev/null || fail "Node.js with npm is missing; $by_hand."
  [ -n "$pinned" ] || fail "scripts/node.lock has no Node for this platform; $by_hand."
  version=${pinned%% *}
  say "Fetching Node $version (this machine has $(node --version))"
  mkdir -p "$cache"
  fetching=$(mktemp -d "$cache/fetching-XXXXXX")
  fetched=no
  platform=$(node -p 'process.platform + "-" + process.arch')
  if (cd "$fetching" && npm pack "node-$platform@$version" --ignore-scripts --silent >/dev/null 2>&1); then fetched=yes; fi
  if [ "$fetched" = no ]; then
    rm -rf "$fetching"
    fail "Node $version could not be fetched from the npm registry; check the network or $by_hand."
  fi
  digest=sha512-$(cat "$fetching"/*.tgz | node -e '
    const hash = require("crypto").createHash("sha512")
    process.stdin.on("data", (chunk) => hash.update(chunk)).on("end", () => console.log(hash.digest("base64")))')
  if [ "$digest" != "${pinned#* }" ]; then
    rm -rf "$fetching"
    fail "the npm registry's Node $version has the digest $digest, and scripts/node.lock wants ${pinned#* }; nothing of it was run: ask who runs the registry, or $by_hand."
  fi
  tar -xzf "$fetching"/*.tgz -C "$fetching" --no-same-owner
  rm -rf "${cache:?}/node-$version"
  mv "$fetching/package" "$cache/node-$version"
  rm -rf "$fetching"
  is_ours "$node22" || fail "Node $version does not run on this machine; $by_hand."
  printf '%s\n' "$node22" >"$cache/node22" || true
}

# The Node is one of ours by now. Some packages of development want an npm newer than Debian 13's as well, and need none to be installed.
npm_install() {
  # shellcheck disable=SC2086 # one word an argument
  attended npm $with --ignore-scripts --no-audit --no-fund --loglevel=error --engine-strict=false >&2
}

# install_packages run|start|all: what scripts/packages-current.ts says is missing for that.
install_packages() {
  with=$(node scripts/packages-current.ts "$1") || exit 1
  if [ -z "$with" ]; then return; fi
  take_install_lock
  with=$(node scripts/packages-current.ts "$1") || exit 1
  if [ -z "$with" ]; then drop_install_lock; return; fi
  say "Installing the npm packages of package-lock.json (a minute or two)"
  installed=yes
  npm_install || installed=no
  if [ "$installed" = yes ] && [ -n "$(node scripts/packages-current.ts "$1")" ]; then
    # The packages that were there belong to another package-lock.json: from the beginning.
    rm -f node_modules/.package-lock.json
    with=$(node scripts/packages-current.ts "$1")
    npm_install || installed=no
  fi
  if [ "$installed" = yes ]; then attended node scripts/install-scripts.ts >&2 || installed=no; fi
  drop_install_lock
  if [ "$installed" = no ]; then fail "npm $with failed; its message is above."; fi
}

# Two commands started at once must not both empty node_modules. A lock whose holder is gone is taken over.
install_lock=.npm-ci.lock
take_install_lock() {
  waited=
  until mkdir "$install_lock" 2>/dev/null; do
    if ! [ -d "$install_lock" ] && ! [ -w . ]; then
      fail "the npm packages of $(pwd) are missing or outdated, and this user can't write there; run npm ci as its owner, or use a checkout of your own."
    fi
    holder=$(cat "$install_lock/pid" 2>/dev/null || true)
    if [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; then drop_install_lock; continue; fi
    if [ -z "$waited" ]; then say "Another command installs the npm packages; waiting for it"; waited=yes; fi
    sleep 1
  done
  printf '%s\n' "$$" >"$install_lock/pid"
}
drop_install_lock() { rm -rf "$install_lock"; }

# The client library and the widget for pages, and the packages of the SDKs; a moment where they are there already.
build_web() { node scripts/build-web.ts && node scripts/sdk/build.ts; }

# The Debian package of a program.
package_of() {
  case $1 in
    sipp) echo sip-tester ;;
    promtool) echo prometheus ;;
    *) echo "$1" ;;
  esac
}

# install_programs <program>…
install_programs() {
  missing=
  elsewhere=
  for program in "$@"; do
    if command -v "$program" >/dev/null; then continue; fi
    missing="$missing $(package_of "$program")"
    elsewhere="$elsewhere ${program%-server}"
  done
  if [ -z "$missing" ]; then return; fi
  if [ "$(id -u)" != 0 ] || ! [ -f /etc/debian_version ] || ! command -v apt-get >/dev/null; then
    fail "please install$missing (Debian, Ubuntu: sudo apt-get install$missing; Fedora: sudo dnf install$elsewhere; macOS: brew install$elsewhere) and start again."
  fi
  for program in $missing; do say "Installing the system package $program"; done
  # Nothing of what is installed shall run by itself: Patchbay starts its own Redis.
  policy=/usr/sbin/policy-rc.d
  made_policy=
  if ! [ -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" && made_policy=yes
  fi
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086 # one word a package
  attended sh -ec '
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null 2>&1 ||
      { apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null; }' sh $missing >&2 || status=$?
  if [ -n "$made_policy" ]; then rm -f "$policy"; fi
  for program in "$@"; do
    command -v "$program" >/dev/null || fail "$program could not be installed; run: apt-get install$missing"
  done
  case $missing in
    *redis-server*)
      if [ -d /run/systemd/system ]; then systemctl disable --quiet redis-server.service || true; fi ;;
  esac
}

# The programs of the embedded default that the configuration does not replace.
install_default_programs() {
  redis_url=$(node scripts/environment.ts REDIS_URL) || exit 1
  [ -n "$redis_url" ] || install_programs redis-server
  default_tts=$(node scripts/environment.ts PATCHBAY_DEFAULT_TTS) || exit 1
  [ "${default_tts:-offline}" != offline ] || install_programs espeak-ng
}

# The SIP peers and the browsers of the tests and the checker of alert rules, where they can be had by themselves; elsewhere those tests
# say what is missing.
install_test_peers() {
  if [ "$(id -u)" != 0 ] || ! [ -f /etc/debian_version ] || ! command -v apt-get >/dev/null; then return; fi
  install_programs sipp baresip kamailio chromium firefox-esr pulseaudio promtool pgbouncer redis-sentinel nginx haproxy caddy
}

command=${1:-help}
if [ $# -gt 0 ]; then shift; fi
find_node
case $command in
  start)
    install_default_programs
    install_packages start
    build_web
    exec sh scripts/main.sh start "$@" ;;
  test)
    install_programs redis-server espeak-ng
    install_test_peers
    install_packages all
    build_web
    # Minutes, once a machine; the tests of WebRTC wait for it, and say why where it can't be had. As urgent as the tests that
    # run beside those in real time.
    nice -n 5 node scripts/mediasoup-worker/build.ts --install --jobs=2 --urgent >/dev/null 2>&1 &
    exec node scripts/test.ts "$@" ;;
  demo)
    # Without a running Patchbay it starts its own.
    install_programs redis-server espeak-ng
    install_packages all
    exec node scripts/demo.ts "$@" ;;
  kill-workers)
    install_programs redis-server espeak-ng
    install_packages all
    exec node scripts/kill-workers.ts "$@" ;;
  campaign-day)
    install_packages all
    exec node scripts/campaign-day.ts "$@" ;;
  kill-campaign)
    install_programs redis-server
    install_packages all
    exec node scripts/kill-campaign.ts "$@" ;;
  chaos)
    install_programs redis-server
    install_packages all
    exec node scripts/chaos/chaos.ts "$@" ;;
  large)
    install_programs redis-server espeak-ng
    install_packages all
    exec node scripts/large/large.ts "$@" ;;
  roll)
    install_programs redis-server espeak-ng
    install_packages all
    build_web
    exec node scripts/roll/roll.ts "$@" ;;
  provider-currency) exec node scripts/provider-currency.ts "$@" ;;
  bench)
    install_programs redis-server espeak-ng
    install_packages all
    exec node bench/run.ts "$@" ;;
  statements) exec node scripts/statements.ts "$@" ;;
  fuzz)
    install_programs redis-server espeak-ng
    install_packages all
    exec node test/fuzz/run.ts "$@" ;;
  patchbay)
    install_packages run
    exec sh scripts/main.sh "$@" ;;
  *)
    fail "usage: scripts/run.sh start|test|demo|kill-workers|campaign-day|kill-campaign|chaos|large|roll|bench|fuzz|statements|provider-currency|patchbay [arguments]" ;;
esac
