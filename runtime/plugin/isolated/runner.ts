/**
 * What runs in a plugin's process: reads frames from the role, runs the plugin's code, writes frames back. It has what the
 * plugin has.
 */
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers'
import type { Factories, Host, Options } from '../../../packages/plugin/mod.ts'
import { AudioQueue } from './audio-queue.ts'
import { PipeFrameReader, PipeFrameWriter, PLUGIN_LIMITS, ROLE_LIMITS } from './frames.ts'
import type { FromPlugin, ToPlugin, Use } from './messages.ts'
import { ObjectExchange } from './object-exchange.ts'
import { runUse, type UseOutput } from './run-use.ts'

/** The ends of the process's pipe. */
export interface Pipe {
  read: Readable
  /** Resolves with how many of the bytes it took. */
  write(bytes: Uint8Array): Promise<number>
}

let pipe: Pipe

interface Session {
  abort: AbortController
  audio: AudioQueue | undefined
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
    for (let sent = 0; sent < whole.length; ) sent += await pipe.write(whole.subarray(sent))
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

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const ending = new AbortController()
const sessions = new Map<number, Session>()
let host: Host
let factories: Factories = {}
const kept = new Map<string, unknown>()

for (const level of ['debug', 'info', 'warn', 'error'] as const) {
  console[level] = (...args) => say({ type: 'log', level, message: args.map(String).join(' ').slice(0, 2_000) })
}
console.log = console.info

async function init({ plugin, module, env, granted, modelsDir }: Extract<ToPlugin, { type: 'init' }>): Promise<void> {
  const allowed = new Set(granted)
  const log = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string) =>
    say({ type: 'log', level, message: String(message).slice(0, 2_000) })
  host = {
    plugin,
    ...(modelsDir === undefined ? {} : { modelsDir }),
    signal: ending.signal,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    env: {
      get(name) {
        if (allowed.has(name)) return env[name]
        throw new Error(
          `Plugin "${plugin}" requires env access to "${name}"; grant it in config/plugins.json or with --allow-env=${plugin}:${name}`,
        )
      },
    },
  }
  try {
    const loaded = (await import(module)) as { default?: Factories }
    if (typeof loaded.default !== 'object' || loaded.default === null) {
      throw new Error('its default export is not definePlugin({ … })')
    }
    factories = loaded.default
    say({ type: 'ready', factories: Object.keys(factories) })
  } catch (error) {
    say({ type: 'broken', reason: words(error).slice(0, 8_000) })
  }
}

async function open(session: number, use: Use, options: Options): Promise<void> {
  const abort = new AbortController()
  const audio = use.kind === 'stt' ? new AudioQueue() : undefined
  const exchange = new ObjectExchange({
    need: (start, end) => say({ type: 'need', session, start, end }),
    bytes(piece) {
      out.bytes(session, piece)
      flush()
    },
  })
  sessions.set(session, { abort, audio, exchange })
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
    }
    await runUse(whole, use, options, abort.signal, audio ?? new AudioQueue(), output, exchange)
    if (!abort.signal.aborted) say({ type: 'done', session })
  } catch (error) {
    const failure = (error as { failure?: unknown }).failure
    const judged = typeof failure === 'object' && failure !== null ? { failure: failure as never } : {}
    if (!abort.signal.aborted) say({ type: 'failed', session, message: words(error).slice(0, 2_000), ...judged })
  } finally {
    sessions.delete(session)
  }
}

function receive(message: ToPlugin): void {
  switch (message.type) {
    case 'init':
      // biome-ignore lint/complexity/noVoid: a throw ends this plugin's process, and its role is notified
      void init(message)
      return
    case 'open':
      // biome-ignore lint/complexity/noVoid: a throw ends this plugin's process, and its role is notified
      void open(message.session, message.use, message.options)
      return
    case 'end':
      sessions.get(message.session)?.audio?.end()
      return
    case 'cancel': {
      const session = sessions.get(message.session)
      session?.abort.abort()
      session?.audio?.end()
      session?.exchange.lack('It was given up')
      return
    }
    case 'more':
      sessions.get(message.session)?.exchange.more()
      return
    case 'beat':
      say(message)
  }
}

/** Resolves once the role is gone. */
export async function run(ends: Pipe): Promise<void> {
  pipe = ends
  const reader = new PipeFrameReader(ROLE_LIMITS)
  const gone = Promise.withResolvers<void>()
  pipe.read.on('data', (bytes: Uint8Array) => {
    reader.push(bytes)
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
      if (frame.type === 'message') receive(frame.message as ToPlugin)
      else if (frame.type === 'audio') sessions.get(frame.session)?.audio?.push(frame.samples)
      else if (frame.type === 'bytes') sessions.get(frame.session)?.exchange.give(frame.bytes)
    }
  })
  pipe.read.on('error', () => gone.resolve())
  pipe.read.on('close', () => gone.resolve())
  pipe.read.on('end', () => gone.resolve())
  await gone.promise
  ending.abort()
}
