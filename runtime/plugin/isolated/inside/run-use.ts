import type {
  Embedding,
  Factories,
  Host,
  Llm,
  LlmEvent,
  ObjectStore,
  Options,
  Realtime,
  Stt,
  SttEvent,
  Telephony,
  Toolbox,
  Tts,
  VectorStore,
} from '../../../../packages/plugin/mod.ts'
import { realtimeCapabilitiesOf } from '../../../../packages/plugin/realtime-values.ts'
import { telephonyDescriptionOf } from '../../../../packages/plugin/telephony-values.ts'
import {
  iterableOf,
  llmEventOf,
  pcmSamplesOf,
  sttEventOf,
  toolAnswerOf,
  toolsOf,
  vectorsOf,
  WrongValue,
} from '../../../../packages/plugin/values.ts'
import type { ObjectAct, RealtimeNews, Use } from '../messages.ts'
import type { ObjectExchange } from '../object-exchange.ts'
import type { RealtimeInput } from '../realtime-inputs.ts'
import { runRealtime } from './run-realtime.ts'
import { runTelephony } from './run-telephony.ts'

/** Where what a use brings goes. */
export interface UseOutput {
  event(event: SttEvent | LlmEvent | RealtimeNews): void
  /** Resolves when more may be made. */
  audio(samples: Int16Array): Promise<void> | void
  result(result: unknown): void
  /** Resolves when more may be made. */
  bytes(bytes: Uint8Array): Promise<void> | void
  /** What the plugin gave and was left out, for its author. */
  dropped(why: string): void
}

/** Instances that are kept; the oldest gives way. Each is let go when its call is over, so that there are far fewer. */
const MAX_KEPT = 2_000
/** Samples that go at once. */
const MAX_SAMPLES = 1 << 16

/** A loaded plugin. */
interface Plugin {
  factories: Factories
  host: Host
  /** What is made once for the process, by its kind and options. */
  kept: Map<string, unknown>
}

const keyOf = (kind: string, sessionId: string): string => `${kind} of session ${sessionId}`

/** The call or chat is over: what was made for it closes what it holds open. Throws what the plugin throws. */
export async function disposeSession({ kept }: Pick<Plugin, 'kept'>, sessionId: string): Promise<void> {
  for (const kind of ['stt', 'tts', 'llm']) {
    const key = keyOf(kind, sessionId)
    const made = kept.get(key) as Promise<{ dispose?: () => unknown }> | undefined
    if (made === undefined) continue
    kept.delete(key)
    await (await made).dispose?.()
  }
}

/** Carries out one use of a plugin, to its end or until the signal aborts. Throws what the plugin throws. Runs in Deno, too. */
export async function runUse(
  { factories, host, kept }: Plugin,
  use: Use,
  options: Options,
  signal: AbortSignal,
  audio: AsyncIterable<Int16Array>,
  out: UseOutput,
  exchange: ObjectExchange,
  inputs: AsyncIterable<RealtimeInput>,
): Promise<void> {
  const make = async <T>(kind: string): Promise<T> => {
    const factory = (factories as Record<string, ((host: Host, options: Options) => T | Promise<T>) | undefined>)[kind]
    if (factory === undefined) throw new Error(`The plugin has no ${kind} factory`)
    const made = await factory(host, options)
    if (typeof made === 'object' && made !== null) return made
    throw new WrongValue(
      `The ${kind} factory has to return an object; it returned ${made === null ? 'null' : typeof made}`,
    )
  }
  const makeOnce = <T>(kind: string, key = `${kind} ${JSON.stringify(options)}`): Promise<T> => {
    const known = kept.get(key) as Promise<T> | undefined
    if (known !== undefined) return known
    const made = make<T>(kind)
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? '')
    kept.set(key, made)
    made.catch(() => kept.delete(key))
    return made
  }
  const { sessionId } = options
  const ofSession = <T>(kind: string): Promise<T> =>
    sessionId === undefined ? make<T>(kind) : makeOnce<T>(kind, keyOf(kind, sessionId))
  switch (use.kind) {
    case 'stt': {
      const stt = await ofSession<Stt>('stt')
      for await (const event of iterableOf(stt.recognise(audio, signal), 'recognise')) {
        if (signal.aborted) return
        out.event(sttEventOf(event))
      }
      return
    }
    case 'tts': {
      const tts = await ofSession<Tts>('tts')
      for await (const given of iterableOf(tts.speak(use.text, signal), 'speak')) {
        const samples = pcmSamplesOf(given)
        for (let from = 0; from < samples.length; from += MAX_SAMPLES) {
          if (signal.aborted) return
          await out.audio(samples.subarray(from, from + MAX_SAMPLES))
        }
      }
      return
    }
    case 'llm': {
      const llm = await ofSession<Llm>('llm')
      for await (const given of iterableOf(llm.chat(use.request, signal), 'chat')) {
        if (signal.aborted) return
        const event = llmEventOf(given, out.dropped)
        if (event !== undefined) out.event(event)
      }
      return
    }
    case 'realtime': {
      const { event: news, bytes, result } = out
      await runRealtime(await make<Realtime>('realtime'), use.config, inputs, { news, bytes, result })
      return
    }
    case 'embedding': {
      const embedding = await makeOnce<Embedding>('embedding')
      out.result(vectorsOf(await embedding.embed(use.texts, signal), embedding, use.texts.length))
      return
    }
    case 'vectorstore': {
      const store = await makeOnce<VectorStore>('vectorstore')
      const { name, args } = use.act
      const act = store[name] as (...args: unknown[]) => Promise<unknown>
      out.result(await act.call(store, ...args, signal))
      return
    }
    case 'objectstore': {
      const store = await makeOnce<ObjectStore>('objectstore')
      await keepObjects(store, use.act, signal, out, exchange)
      return
    }
    case 'tools': {
      const toolbox = await makeOnce<Toolbox>('tools')
      const { act } = use
      out.result(act === 'list' ? toolsOf(await toolbox.list(signal)) : toolAnswerOf(await toolbox.call(act, signal)))
      return
    }
    case 'telephony':
      out.result(await runTelephony(await makeOnce<Telephony>('telephony'), use.act, signal))
      return
    case 'describe': {
      if (use.of === 'telephony') {
        out.result(telephonyDescriptionOf(await makeOnce<Telephony>('telephony')))
        return
      }
      if (use.of === 'realtime') {
        out.result({ capabilities: realtimeCapabilitiesOf((await make<Realtime>('realtime')).capabilities) })
        return
      }
      const { sampleRateHz, dimensions } = await ofSession<{ sampleRateHz?: number; dimensions?: number }>(use.of)
      out.result({ sampleRateHz, dimensions })
      return
    }
    case 'conformance': {
      const { conformanceOf } = await import('../../../../packages/plugin/test.ts')
      out.result(await conformanceOf(factories, { host, options, byKind: use.byKind }))
      return
    }
    case 'check':
      await factories.check?.(host, options, signal)
  }
}

async function keepObjects(
  store: ObjectStore,
  act: ObjectAct,
  signal: AbortSignal,
  out: UseOutput,
  exchange: ObjectExchange,
): Promise<void> {
  switch (act.name) {
    case 'put':
      return store.put(act.key, exchange.source(act.size, signal), act.contentType, signal)
    case 'get': {
      const found = await store.get(act.key, signal, act.range)
      out.result(found === undefined ? undefined : { size: found.size })
      if (found !== undefined) await exchange.send(found.body, signal)
      return
    }
    case 'url':
      out.result(await store.url(act.key, act.link, signal))
      return
    case 'remove':
      return store.remove(act.key, signal)
  }
}
