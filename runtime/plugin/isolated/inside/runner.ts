/**
 * What runs in a plugin's process: reads frames from the role, runs the plugin's code, writes frames back. It has what the
 * plugin has.
 */
import { Socket } from 'node:net'
import { setImmediate } from 'node:timers'
import { inspect } from 'node:util'
import type { Factories, Host, Options } from '../../../../packages/plugin/mod.ts'
import { AudioQueue } from '../audio-queue.ts'
import { PIPE_FD, PipeFrameReader, PipeFrameWriter, PLUGIN_LIMITS, ROLE_LIMITS } from '../frames.ts'
import type { FromPlugin, ToPlugin, Use } from '../messages.ts'
import { ObjectExchange } from '../object-exchange.ts'
import { RealtimeInputs } from '../realtime-inputs.ts'
import { disposeSession, runUse, type UseOutput } from './run-use.ts'
import { thrownOf } from './thrown.ts'

/**
 * The pipe to the role, both ways: a descriptor of its own, as plugins and native libraries print to standard output. One socket,
 * without a thread of its own between the pipe and the plugin: on a busy machine each thread waits for its turn.
 */
const pipe = new Socket({ fd: PIPE_FD })

interface Session {
  abort: AbortController
  audio: AudioQueue | undefined
  inputs: RealtimeInputs | undefined
  exchange: ObjectExchange
}

let writing = Promise.resolve()
let isWriting = false
const out = new PipeFrameWriter(PLUGIN_LIMITS)
/** Of the frames that wait to be written; with more, who makes audio waits. */
const MAX_WAITING_BYTES = 32 << 10

/** Everything of one turn of the event loop leaves in one write. */
function flush(): void {
  if (isWriting) return
  isWriting = true
  writing = writing.then(async () => {
    // A timer of no time takes milliseconds in Deno.
    await new Promise<void>((resolve) => setImmediate(resolve))
    isWriting = false
    const whole = out.take()
    if (!pipe.write(whole)) await new Promise<void>((resolve) => pipe.once('drain', () => resolve()))
  })
}

/** Speech that is made faster than it is heard must not look like a flood to the role. */
const MAX_AUDIO_BYTES_PER_S = 2 << 20
const AUDIO_BURST_BYTES = 1 << 20
let audioBytes = 0
let audioAtMs = performance.now()

async function pace(bytes: number): Promise<void> {
  const nowMs = performance.now()
  audioBytes = Math.max(0, audioBytes - ((nowMs - audioAtMs) * MAX_AUDIO_BYTES_PER_S) / 1000) + bytes
  audioAtMs = nowMs
  const overMs = ((audioBytes - AUDIO_BURST_BYTES) * 1000) / MAX_AUDIO_BYTES_PER_S
  if (overMs > 0) await new Promise<void>((resolve) => setTimeout(resolve, overMs))
}

function say(message: FromPlugin): void {
  out.message(message)
  flush()
}

const MAX_LOGGED_CHARS = 2_000
type Level = Extract<FromPlugin, { type: 'log' }>['level']

/** Hands a line to the role's log. Never throws. */
function log(level: Level, ...parts: readonly unknown[]): void {
  const text = parts.map((part) => (typeof part === 'string' ? part : inspect(part))).join(' ')
  say({ type: 'log', level, message: text.slice(0, MAX_LOGGED_CHARS) })
}

const ending = new AbortController()
const sessions = new Map<number, Session>()
let host: Host
let factories: Factories = {}
const kept = new Map<string, unknown>()

/** URL of the plugin's folder. */
let folder = ''

for (const level of ['debug', 'info', 'warn', 'error'] as const) console[level] = (...args) => log(level, ...args)
console.log = console.info

/** An error that nobody handled belongs to no session: it is logged, and the sessions go on. */
export function stray(error: unknown): void {
  const { message } = thrownOf(error, folder)
  log('error', `An error that the plugin did not handle: ${message}`, error instanceof Error ? String(error.stack) : '')
}

async function init({ plugin, module, env, granted, modelsDir }: Extract<ToPlugin, { type: 'init' }>): Promise<void> {
  const allowed = new Set(granted)
  const to = (level: Level) => (message: unknown) => log(level, message)
  folder = new URL('.', module).href
  host = {
    plugin,
    ...(modelsDir === undefined ? {} : { modelsDir }),
    signal: ending.signal,
    log: { debug: to('debug'), info: to('info'), warn: to('warn'), error: to('error') },
    env: {
      get(name) {
        if (allowed.has(name)) return env[name]
        throw new Error(
          `Plugin "${plugin}" requires env access to "${name}"; grant it in config/plugins.json or with --allow-env=${plugin}:${name}`,
        )
      },
    },
  }
  // What libraries read of it: what was granted, and nothing else.
  giveEnvironment(env)
  try {
    const loaded = (await import(module)) as { default?: Factories }
    if (typeof loaded.default !== 'object' || loaded.default === null) {
      throw new Error('its default export is not definePlugin({ … })')
    }
    factories = loaded.default
    say({ type: 'ready', factories: Object.keys(factories) })
  } catch (error) {
    say({ type: 'broken', reason: thrownOf(error, folder).message })
  }
}

/** Deno's functions for the environment, where this is Deno. */
type DenoEnvironment = { env: Record<string, unknown> }

function giveEnvironment(env: Readonly<Record<string, string>>): void {
  const own: Record<string, string | undefined> = { ...env }
  Object.defineProperty(process, 'env', { value: own, writable: true, configurable: true })
  const { Deno } = globalThis as { Deno?: DenoEnvironment }
  if (Deno === undefined) return
  Deno.env.get = (name: string) => own[name]
  Deno.env.has = (name: string) => own[name] !== undefined
  Deno.env.toObject = () => ({ ...own })
}

async function open(session: number, use: Use, options: Options): Promise<void> {
  const abort = new AbortController()
  const audio = use.kind === 'stt' ? new AudioQueue() : undefined
  const inputs = use.kind === 'realtime' ? new RealtimeInputs() : undefined
  const exchange = new ObjectExchange({
    need: (start, end) => say({ type: 'need', session, start, end }),
    bytes(piece) {
      out.bytes(session, piece)
      flush()
    },
  })
  sessions.set(session, { abort, audio, inputs, exchange })
  try {
    let isHeard = false
    const whole = { factories, host, kept }
    const output: UseOutput = {
      event: (event) => say({ type: 'event', session, event }),
      result(result) {
        out.result(session, result)
        flush()
      },
      async audio(samples) {
        out.audio(session, samples)
        flush()
        // The first sound goes at once; of the rest some goes in one write, and others get their turn.
        if (!isHeard || out.length >= MAX_WAITING_BYTES) await writing
        isHeard = true
        await pace(samples.byteLength)
      },
      async bytes(bytes) {
        out.bytes(session, bytes)
        flush()
        await pace(bytes.byteLength)
      },
      dropped: (why) => log('warn', why),
    }
    await runUse(
      whole,
      use,
      options,
      abort.signal,
      audio ?? new AudioQueue(),
      output,
      exchange,
      inputs ?? new RealtimeInputs(),
    )
    if (!abort.signal.aborted) say({ type: 'done', session })
  } catch (error) {
    if (!abort.signal.aborted) say({ type: 'failed', session, ...thrownOf(error, folder) })
  } finally {
    sessions.delete(session)
  }
}

function receive(message: ToPlugin): void {
  switch (message.type) {
    case 'init':
      // biome-ignore lint/complexity/noVoid: it reports what is thrown itself
      void init(message)
      return
    case 'open':
      // biome-ignore lint/complexity/noVoid: it reports what is thrown itself
      void open(message.session, message.use, message.options)
      return
    case 'tell':
    case 'receive':
    case 'closed':
      sessions.get(message.session)?.inputs?.push(message)
      return
    case 'end':
      sessions.get(message.session)?.audio?.end()
      return
    case 'cancel': {
      const session = sessions.get(message.session)
      session?.abort.abort()
      session?.audio?.end()
      session?.inputs?.end()
      session?.exchange.lack('It was given up')
      return
    }
    case 'dispose':
      disposeSession({ kept }, message.sessionId).catch(stray)
      return
    case 'more':
      sessions.get(message.session)?.exchange.more()
      return
    case 'beat':
      say(message)
  }
}

function hear(session: number, samples: Int16Array): void {
  const { audio, inputs } = sessions.get(session) ?? {}
  audio?.push(samples)
  inputs?.push({ type: 'tell', event: { type: 'audio', samples } })
}

/** Resolves once the role is gone. */
export async function runPlugin(): Promise<void> {
  const reader = new PipeFrameReader(ROLE_LIMITS)
  const gone = Promise.withResolvers<void>()
  pipe.on('data', (bytes: Uint8Array) => {
    reader.push(bytes)
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
      if (frame.type === 'message') receive(frame.message as ToPlugin)
      else if (frame.type === 'audio') hear(frame.session, frame.samples)
      else if (frame.type === 'bytes') sessions.get(frame.session)?.exchange.give(frame.bytes)
    }
  })
  pipe.on('error', () => gone.resolve())
  pipe.on('close', () => gone.resolve())
  pipe.on('end', () => gone.resolve())
  await gone.promise
  ending.abort()
}
