import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import dgram from 'node:dgram'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../scripts/demo/free-port.ts'
import { type Teardown, testFolder } from '../instance/services.ts'

/** Real SIP peers: sipp for scenarios, baresip for conversations. */

const SCENARIOS = join(import.meta.dirname, '../../system/plugins/sip/scenarios')
const SIPP_TIMEOUT_S = 400
const EVENT_TIMEOUT_MS = 240_000
/** Beyond those of a Patchbay under test, and below those that Linux hands out by itself. */
const RTP_PORTS = '30200-32700'
const START_TRIES = 1_200
/** Of a TCP socket in Linux' list: it listens. */
const LISTENS = '0A'
/** Who answers: a softphone takes calls for its own user alone. */
const PHONE = '+14155550177'

/** Why tests with these programs are skipped; undefined when they run. In CI they must. */
export function skipWithout(...programs: string[]): string | false {
  const missing = programs.filter((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0)
  if (missing.length === 0) return false
  const reason = `${missing.join(' and ')} missing; on Debian: apt-get install sip-tester baresip`
  if (process.env.CI) throw new Error(reason)
  return reason
}

export { freePort }

async function isFreeForTcp(port: number): Promise<boolean> {
  const server = net.createServer().listen(port, '127.0.0.1')
  const free = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  server.close()
  return free
}

/** Two such ports, one after the other: baresip's TLS port is the one after that of UDP and TCP. */
export async function freePortPair(): Promise<number> {
  for (;;) {
    const port = await freePort()
    if (await isFreeForTcp(port + 1)) return port
  }
}

export interface SippRun {
  code: number | null
  /** What went wrong, as sipp tells it. */
  errors: string
}

/** A sipp that is under way; await `done`. */
export interface Sipp {
  readonly child: ChildProcess
  readonly done: Promise<SippRun>
  /** Resolves once what sipp sent and received has a message that begins so, this many times. */
  saw(begin: string, times?: number): Promise<void>
  /** Has one of its calls go on, the first or the nth from 0, whose scenario waits for an INFO. */
  goOn(nth?: number): Promise<void>
}

/** Starts sipp with a scenario of test/system/plugins/sip/scenarios. A server scenario listens once this resolves. */
export async function startSipp(
  t: Teardown,
  options: { scenario: string; port?: number; peer?: string; args?: readonly string[] },
): Promise<Sipp> {
  const folder = await testFolder(t)
  const port = options.port ?? (await freePort())
  const args = [
    ...(options.peer === undefined ? [] : [options.peer]),
    ...['-sf', join(SCENARIOS, `${options.scenario}.xml`)],
    ...['-i', '127.0.0.1', '-p', String(port), '-mi', '127.0.0.1', '-mp', String(await freePort())],
    ...['-m', '1', '-nostdin', '-trace_err', '-error_file', join(folder, 'errors')],
    ...['-trace_msg', '-message_file', join(folder, 'messages')],
    ...['-timeout', `${SIPP_TIMEOUT_S}s`, '-timeout_error', ...(options.args ?? [])],
  ]
  const child = spawn('sipp', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-20_000)
    })
  }
  const done = once(child, 'close').then(async ([code]) => {
    const errors = await readFile(join(folder, 'errors'), 'utf8').catch(() => '')
    const told = (code === 0 || errors !== '' ? errors : printed).slice(-3_000)
    return { code: code as number | null, errors: told }
  })
  t.teardown(() => void child.kill('SIGKILL'))
  if (options.peer === undefined) while (!(await isBound(port)) && child.exitCode === null) await sleep(20)
  const readMessages = () => readFile(join(folder, 'messages'), 'utf8').catch(() => '')
  const saw = async (begin: string, times = 1): Promise<void> => {
    for (;;) {
      const messages = await readMessages()
      if (messages.split(`\n\n${begin}`).length > times) return
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`sipp never saw ${begin}: ${messages}`)
      await sleep(50)
    }
  }
  let told = 0
  const goOn = async (nth = 0): Promise<void> => {
    const messages = await readMessages()
    const calls = new Map<string, string[]>()
    for (const [head] of messages.matchAll(/\n\nINVITE .*?\n\r?\n/gis)) {
      const kept = head.split(/\r?\n/).filter((line) => /^(Via|From|To|Call-ID):/i.test(line))
      calls.set(kept.find((line) => /^Call-ID:/i.test(line)) ?? '', kept)
    }
    const kept = [...calls.values()][nth]
    if (kept === undefined) throw new Error(`sipp has no call ${nth}: ${messages}`)
    // With the lines of the INVITE, which a scenario that answers it later takes from the last message.
    const info = ['INFO sip:sipp@127.0.0.1 SIP/2.0', ...kept, `CSeq: ${++told} INFO`, 'Content-Length: 0', '', '']
    const socket = dgram.createSocket('udp4')
    await new Promise((resolve) => socket.send(info.join('\r\n'), port, '127.0.0.1', resolve))
    socket.close()
  }
  return { child, done, saw, goOn }
}

/** Runs one call of a client scenario to its end. */
export async function sipp(
  t: Teardown,
  scenario: string,
  sipPort: number,
  number: string,
  args: readonly string[] = [],
): Promise<SippRun> {
  const run = await startSipp(t, { scenario, peer: `127.0.0.1:${sipPort}`, args: ['-s', number, ...args] })
  return run.done
}

export interface Baresip {
  readonly port: number
  /** Everything it reported so far: events and answers. */
  readonly events: readonly Record<string, unknown>[]
  command(command: string, params?: string): void
  /** Says this in its calls from now on, in place of what it said before: 16-bit samples at 8 kHz. */
  say(samples: Int16Array): Promise<void>
  /** Resolves with the first event of this type. */
  event(type: string): Promise<Record<string, unknown>>
  /** What it has heard so far, as 16-bit samples at 8 kHz. */
  heardSoFar(): Promise<Int16Array>
  /** All it heard; ends it. */
  heard(): Promise<Int16Array>
}

/** Starts a softphone that says what `says` holds (16-bit samples at 8 kHz) in every call. */
export async function startBaresip(
  t: Teardown,
  options: {
    says: Int16Array
    autoAnswer?: boolean
    port?: number
    /** Speaks TLS alone, on the port after `port`: files of its key and certificate, and of those it trusts. */
    tls?: { certificate: string; ca: string }
    /** Registers there. */
    account?: { username: string; password: string; server: string }
    /** As baresip names them, with rate and channels: `G722/16000/1`. One it doesn't know it leaves out, and offers all. */
    codecs?: string
    /** Of the account: `;mediaenc=srtp`. */
    accountOptions?: string
  },
): Promise<Baresip> {
  const folder = await testFolder(t)
  const wanted = options.port ?? (await (options.tls === undefined ? freePort() : freePortPair()))
  const [port, control] = [wanted, await freePort()]
  await writeFile(join(folder, 'says.wav'), wav(options.says))
  const mode = options.autoAnswer ? 'answermode=auto;' : ''
  const { tls } = options
  const own = tls === undefined ? `127.0.0.1:${port}` : `127.0.0.1:${port + 1};transport=tls`
  const { account, codecs = 'PCMU', accountOptions = '' } = options
  const who =
    account === undefined
      ? `<sip:${PHONE}@${own}>;regint=0`
      : `<sip:${account.username}@${account.server}>;auth_pass=${account.password};regint=60`
  await writeFile(join(folder, 'accounts'), `${who};${mode}audio_codecs=${codecs}${accountOptions}\n`)
  await writeFile(join(folder, 'contacts'), '')
  await writeFile(
    join(folder, 'config'),
    [
      `sip_listen 127.0.0.1:${port}`,
      ...(tls === undefined ? [] : [`sip_certificate ${tls.certificate}`, `sip_cafile ${tls.ca}`]),
      `audio_source aufile,${folder}/says.wav`,
      'audio_player aubridge,nobody',
      // What is said is at 8 kHz, whatever the codec.
      ...['ausrc_srate 8000', 'ausrc_channels 1', 'auplay_srate 8000', 'auplay_channels 1'],
      'audio_alert aubridge,alert',
      'audio_path /nonexistent',
      `rtp_ports ${RTP_PORTS}`,
      'module_path /usr/lib/baresip/modules',
      ...['g711', 'g722', 'opus', 'srtp', 'aufile', 'aubridge', 'sndfile'].map((module) => `module ${module}.so`),
      'module_tmp account.so',
      'module_app menu.so',
      'module_app ctrl_tcp.so',
      `ctrl_tcp_listen 127.0.0.1:${control}`,
      `snd_path ${folder}`,
      '',
    ].join('\n'),
  )
  const child = spawn('baresip', ['-4', '-f', folder], { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-20_000)
    })
  }
  t.teardown(() => void child.kill('SIGKILL'))
  const socket = await connectControl(control, () => printed)
  t.teardown(() => socket.destroy())
  const events: Record<string, unknown>[] = []
  const waiting: { type: string; resolve(event: Record<string, unknown>): void }[] = []
  readNetstrings(socket, (text) => {
    const event = JSON.parse(text) as Record<string, unknown>
    events.push(event)
    for (const one of waiting.filter(({ type }) => type === event.type)) one.resolve(event)
  })
  const recorded = async (): Promise<Int16Array | undefined> => {
    const name = (await readdir(folder)).find((file) => /^dump-.*-dec\.wav$/.test(file))
    if (name === undefined) return undefined
    const bytes = await readFile(join(folder, name))
    return new Int16Array(new Uint8Array(bytes.subarray(44, bytes.length - (bytes.length % 2))).buffer)
  }
  const command = (command: string, params = ''): void => {
    const json = JSON.stringify({ command, params, token: command })
    socket.write(`${Buffer.byteLength(json)}:${json},`)
  }
  let said = 0
  return {
    port,
    events,
    command,
    async say(samples) {
      const file = join(folder, `says-${++said}.wav`)
      await writeFile(file, wav(samples))
      command('ausrc', `aufile,${file}`)
    },
    event(type) {
      const known = events.find((event) => event.type === type)
      if (known !== undefined) return Promise.resolve(known)
      const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>()
      waiting.push({ type, resolve })
      const timer = setTimeout(() => reject(new Error(`baresip reported no ${type}: ${printed}`)), EVENT_TIMEOUT_MS)
      return promise.finally(() => clearTimeout(timer))
    },
    heardSoFar: async () => (await recorded()) ?? new Int16Array(0),
    async heard() {
      child.kill('SIGTERM')
      await Promise.race([once(child, 'close'), sleep(5_000)])
      const samples = await recorded()
      if (samples === undefined) throw new Error(`baresip recorded nothing: ${printed}`)
      return samples
    },
  }
}

async function connectControl(port: number, printed: () => string): Promise<net.Socket> {
  for (let tries = 0; tries < START_TRIES; tries++) {
    const socket = net.connect(port, '127.0.0.1')
    const opened = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'close').then(() => false),
    ]).catch(() => false)
    if (opened) return socket
    await sleep(100)
  }
  throw new Error(`baresip did not start: ${printed()}`)
}

function readNetstrings(socket: net.Socket, handle: (text: string) => void): void {
  let held = Buffer.alloc(0)
  socket.on('error', () => undefined)
  socket.on('data', (bytes: Buffer) => {
    held = Buffer.concat([held, bytes])
    for (;;) {
      const colon = held.indexOf(':')
      const length = Number(held.subarray(0, Math.max(colon, 0)).toString())
      if (colon < 0 || held.length < colon + length + 2) return
      handle(held.subarray(colon + 1, colon + 1 + length).toString())
      held = held.subarray(colon + length + 2)
    }
  })
}

/** Whether a program waits for datagrams or connections at this port: one that is asked before it does never hears of it. */
async function isBound(port: number): Promise<boolean> {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  for (const protocol of ['udp', 'tcp']) {
    const lines = (await readFile(`/proc/net/${protocol}`, 'utf8')).split('\n').slice(1)
    const found = lines.map((line) => line.trim().split(/\s+/)).find(([, address]) => address?.endsWith(local))
    if (found !== undefined && (protocol === 'udp' || found[3] === LISTENS)) return true
  }
  return false
}

/** A WAV file of 16-bit mono samples at 8 kHz. */
export function wav(samples: Int16Array): Buffer {
  const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + data.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8_000, 24)
  head.writeUInt32LE(16_000, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}

/** Answers one OPTIONS on this port, as sipp's scenarios would not: the keep-alive of a trunk that was just added. */
export async function answerKeepAlive(port: number, act: () => Promise<unknown>): Promise<void> {
  const socket = dgram.createSocket('udp4').bind(port, '127.0.0.1')
  await once(socket, 'listening')
  const answered = once(socket, 'message').then((message) => {
    const [bytes, from] = message as [Buffer, dgram.RemoteInfo]
    const lines = String(bytes).split('\r\n').slice(1)
    const kept = lines.filter((line) => /^(Via|From|To|Call-ID|CSeq):/i.test(line))
    const answer = ['SIP/2.0 200 OK', ...kept, 'Content-Length: 0', '', ''].join('\r\n')
    return new Promise((resolve) => socket.send(answer, from.port, from.address, resolve))
  })
  await act()
  await answered
  socket.close()
  await once(socket, 'close')
}
