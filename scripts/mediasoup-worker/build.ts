/**
 * Builds mediasoup's media worker once into the cache of this machine, out of the sources in its npm package, against the libraries
 * of the distribution. Nothing is fetched from elsewhere; `--install` installs what is needed by apt-get (Debian, as root). It gives
 * way to the calls of the machine, unless it is `--urgent`; `--jobs=N` has so many compilers at work. Ends with 0 when the worker is there, 3 when tools are missing, 1 when it failed; the last line of stderr says why.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { builtFolder, cacheFolder, MEDIASOUP, RECIPE, WORKER_NAME } from '../../api/realtime/webrtc/worker-cache.ts'

const PACKAGES = 'g++ make flatbuffers-compiler libflatbuffers-dev libssl-dev libuv1-dev libsrtp2-dev'
const NEEDED_PROGRAMS = ['g++', 'make', 'flatc', 'sed']
const NEEDED_HEADERS = ['flatbuffers/flatbuffers.h', 'openssl/ssl.h', 'uv.h', 'srtp2/srtp.h']
const LACKS_TOOLS = 3
const WAIT_MS = 1_000
const AFTER_THE_OTHER_MS = 1_800_000
const jobs = process.argv.find((argument) => argument.startsWith('--jobs='))?.slice('--jobs='.length) ?? '1'

const folder = builtFolder(cacheFolder(process.env))
const program = join(folder, WORKER_NAME)
const work = `${folder}.work`
const lock = `${folder}.lock`

if (existsSync(program)) process.exit(0)
if (process.argv.includes('--install')) install()
const lacking = missing()
if (lacking !== undefined)
  end(LACKS_TOOLS, `the media worker of WebRTC is not built, for ${lacking} is missing: apt-get install ${PACKAGES}`)
mkdirSync(folder, { recursive: true })
takeLock()
process.on('exit', () => rmSync(lock, { force: true }))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))
if (existsSync(program)) process.exit(0)
if (!process.argv.includes('--urgent') && getPriority() < constants.priority.PRIORITY_LOW)
  setPriority(constants.priority.PRIORITY_LOW)
process.stdout.write('Building\n')
const args = ['-s', '-j', jobs, '-f', join(RECIPE, 'Makefile'), `MEDIASOUP=${join(MEDIASOUP, 'worker')}`, `OUT=${work}`]
mkdirSync(work, { recursive: true })
const made = spawnSync('make', args, { stdio: ['ignore', 'ignore', 'inherit'] })
if (made.status !== 0) end(1, 'the media worker of WebRTC could not be compiled; its messages are above')
const check = spawnSync(process.execPath, [join(RECIPE, 'verify.ts'), join(work, WORKER_NAME)], { encoding: 'utf8' })
if (check.status !== 0) {
  rmSync(join(work, WORKER_NAME), { force: true })
  end(1, `the media worker of WebRTC was built and carries no calls: ${check.stderr.trim()}`)
}
renameSync(join(work, WORKER_NAME), program)
rmSync(work, { recursive: true, force: true })

/** What the build needs and this machine has not. */
function missing(): string | undefined {
  const found = spawnSync('sh', [
    '-c',
    NEEDED_PROGRAMS.map((name) => `command -v ${name} >/dev/null || echo ${name}`).join('; '),
  ])
  const [first] = String(found.stdout).trim().split('\n')
  if (first !== undefined && first !== '') return first
  return NEEDED_HEADERS.find((header) => {
    const input = `#include <${header}>\n`
    return (
      spawnSync('g++', ['-std=c++20', '-x', 'c++', '-E', '-'], { input, stdio: ['pipe', 'ignore', 'ignore'] })
        .status !== 0
    )
  })
}

function install(): void {
  if (missing() === undefined || process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) return
  const apt = `apt-get install -y -qq --no-install-recommends ${PACKAGES}`
  spawnSync('sh', ['-c', `${apt} || { apt-get update -qq && ${apt}; }`], {
    stdio: 'ignore',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
}

/** One build at a time: who comes second waits for what the first one makes. A lock whose holder is gone is taken over. */
function takeLock(): void {
  const endMs = Date.now() + AFTER_THE_OTHER_MS
  for (;;) {
    try {
      writeFileSync(openSync(lock, 'wx'), String(process.pid))
      return
    } catch {
      if (!isHeld()) rmSync(lock, { force: true })
      else if (Date.now() > endMs) end(1, `another build of the media worker does not end; it holds ${lock}`)
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS)
    }
  }
}

function isHeld(): boolean {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')) || process.pid, 0)
    return true
  } catch {
    return false
  }
}

function end(code: number, sentence: string): never {
  process.stderr.write(`${sentence}\n`)
  process.exit(code)
}
