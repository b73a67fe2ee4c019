import { randomUUID } from 'node:crypto'
import type { LlmEvent, Options, SttEvent, ToolCall } from '../../../packages/plugin/mod.ts'
import { telephonyDescriptionOf } from '../../../packages/plugin/telephony-values.ts'
import type { Conformance } from '../../../packages/plugin/test.ts'
import { toolAnswerOf, toolsOf } from '../../../packages/plugin/values.ts'
import { boundary } from '../../lib/async/boundary.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'
import { EventLLM } from '../../plugin-sdk/chat/event-llm.ts'
import type { ProviderIdentity } from '../../plugin-sdk/provider-error.ts'
import { ProviderSTT } from '../../plugin-sdk/speech/provider-stt.ts'
import { SentenceTTS } from '../../plugin-sdk/speech/sentence-tts.ts'
import { StreamCarrier } from '../../plugin-sdk/telephony/stream/carrier.ts'
import type { PluginFactories, SpeechOptions } from '../contract.ts'
import type { Grants } from '../grants/permissions.ts'
import { type FaultOf, faultsOf } from './fault.ts'
import type { Description, ObjectAct, TelephonyAct, Use, VectorAct } from './messages.ts'
import { isolatedObjects } from './object-store.ts'
import type { IsolatedSession, PluginRunner, SessionEvents } from './plugin-runner.ts'
import { isolatedRealtime } from './realtime.ts'
import { isolatedTelephony } from './telephony.ts'
import { usePlugin } from './use-plugin.ts'
import { isolatedVectors } from './vector-store.ts'

/** How long one answer that is no stream may take. */
const ASK_TIMEOUT_MS = 30_000
/** A carrier gives up a question after 15 s. */
const CARRIER_TIMEOUT_MS = 10_000
/** And a suite of them. */
const CONFORMANCE_TIMEOUT_MS = 300_000
/** What comes back goes over the pipe as one result, which has its bounds. */
const TEXTS_AT_ONCE = 8
/** The process in which a use with these options runs. */
type ProcessOf = (options: Pick<Options, 'model' | 'voice'>) => PluginRunner

/** The factories of a plugin that runs in processes of its own, as the plugin host wants them. */
export function isolatedFactories(
  processOf: ProcessOf,
  { name, grants }: { name: string; grants: Grants },
  provider: ProviderIdentity,
): PluginFactories {
  const faultOf = faultsOf(provider)
  /** What one call or chat does with the plugin. */
  const sessionOf = (options: SpeechOptions) => {
    const sessionId = randomUUID()
    const own = { ...optionsOf(options), sessionId }
    return {
      run: <T>(what: Use, signal: AbortSignal, audio?: AsyncIterable<Int16Array>) =>
        usePlugin<T>(processOf(options), what, own, faultOf, signal, audio),
      describe: async (of: 'stt' | 'tts'): Promise<Description> =>
        (await ask(processOf(options), { kind: 'describe', of }, own, faultOf)) as Description,
      dispose: () => processOf(options).dispose(sessionId),
    }
  }
  const namesOf = ({ model = '' }: SpeechOptions) => ({ provider: name, identity: provider, model })
  return {
    async stt(_host, options) {
      const { run, describe, dispose } = sessionOf(options)
      const { sampleRateHz = 0 } = await describe('stt')
      return new ProviderSTT({
        ...namesOf(options),
        language: options.language ?? '',
        sampleRateHz: rateOf(name, sampleRateHz),
        recognise: (audio, signal) => run<SttEvent>({ kind: 'stt' }, signal, audio),
        dispose,
      })
    },
    async tts(_host, options) {
      const { run, describe, dispose } = sessionOf(options)
      const { sampleRateHz = 0 } = await describe('tts')
      return new SentenceTTS({
        provider: name,
        name: options.voice ?? options.model ?? '',
        language: options.language ?? 'en',
        sampleRateHz: rateOf(name, sampleRateHz),
        speak: (text, signal) => run<Int16Array<ArrayBuffer>>({ kind: 'tts', text }, signal),
        dispose,
      })
    },
    llm(_host, options) {
      const { run, dispose } = sessionOf(options)
      return new EventLLM({
        ...namesOf(options),
        temperature: options.temperature,
        chat: (request, signal) => run<LlmEvent>({ kind: 'llm', request }, signal),
        dispose,
      })
    },
    async realtime(_host, options) {
      const own = optionsOf(options)
      const use: Use = { kind: 'describe', of: 'realtime' }
      const described = (await ask(processOf(options), use, own, faultOf)) as Description
      return isolatedRealtime(described, {
        plugin: name,
        grants,
        faultOf,
        async open(config, events) {
          const process = processOf(options)
          await process.ready()
          return process.open({ kind: 'realtime', config }, own, events)
        },
      })
    },
    async embedding(_host, options) {
      const described = await ask(
        processOf(options),
        { kind: 'describe', of: 'embedding' },
        optionsOf(options),
        faultOf,
      )
      const { dimensions = 0 } = described as Description
      return {
        dimensions,
        async embed(texts, signal) {
          const vectors: Float32Array[] = []
          for (let from = 0; from < texts.length; from += TEXTS_AT_ONCE) {
            const use: Use = { kind: 'embedding', texts: texts.slice(from, from + TEXTS_AT_ONCE) }
            const rows = await ask(processOf(options), use, optionsOf(options), faultOf, signal)
            if (!areVectors(rows, use.texts.length, dimensions)) {
              throw faultOf(new Error(`it gave no vector of ${dimensions} numbers for each text`))
            }
            vectors.push(...rows.map((row) => Float32Array.from(row)))
          }
          return vectors
        },
      }
    },
    vectorstore(_host, { embedding, settings }) {
      const options: Options = { settings, ...(embedding === undefined ? {} : { embedding }) }
      const act = (act: VectorAct, signal: AbortSignal): Promise<unknown> => {
        signal.throwIfAborted()
        return ask(processOf({}), { kind: 'vectorstore', act }, options, faultOf, signal)
      }
      return isolatedVectors(async (one, signal) => act(one, signal), faultOf)
    },
    objectstore(_host, { settings }) {
      const open = async (act: ObjectAct, events: SessionEvents): Promise<IsolatedSession> => {
        const process = processOf({})
        await process.ready()
        return process.open({ kind: 'objectstore', act }, { settings }, events)
      }
      return isolatedObjects(open, faultOf)
    },
    tools(_host, options) {
      const act = (act: 'list' | ToolCall, signal: AbortSignal): Promise<unknown> =>
        ask(processOf({}), { kind: 'tools', act }, optionsOf(options), faultOf, signal)
      return {
        list: async (signal) => toolsOf(await act('list', signal)),
        call: async (call, signal) => toolAnswerOf(await act(call, signal)),
      }
    },
    async telephony({ log }, { door, settings }) {
      const options: Options = { settings }
      const described = await ask(processOf({}), { kind: 'describe', of: 'telephony' }, options, faultOf)
      const act = (one: TelephonyAct, signal?: AbortSignal): Promise<unknown> =>
        ask(processOf({}), { kind: 'telephony', act: one }, options, faultOf, signal, CARRIER_TIMEOUT_MS)
      const ready = (): Promise<unknown> => processOf({}).ready()
      return new StreamCarrier(isolatedTelephony(telephonyDescriptionOf(described), { act, ready }), log, door)
    },
    async conformance(_host, { settings, signal, byKind }) {
      const use: Use = { kind: 'conformance', byKind }
      return (await ask(processOf({}), use, { settings }, faultOf, signal, CONFORMANCE_TIMEOUT_MS)) as Conformance[]
    },
    async check(_host, { settings, signal }) {
      await ask(processOf({}), { kind: 'check' }, { settings }, faultOf, signal)
    },
  }
}

function areVectors(rows: unknown, count: number, dimensions: number): rows is number[][] {
  return Array.isArray(rows) && rows.length === count && rows.every((row) => row?.length === dimensions)
}

function optionsOf({ model, voice, language, keyterms, settings }: SpeechOptions): Options {
  return {
    settings,
    ...(model === undefined ? {} : { model }),
    ...(voice === undefined ? {} : { voice }),
    ...(language === undefined ? {} : { language }),
    ...(keyterms === undefined ? {} : { keyterms }),
  }
}

function rateOf(name: string, sampleRateHz: number): number {
  if (Number.isInteger(sampleRateHz) && sampleRateHz >= 8_000 && sampleRateHz <= 48_000) return sampleRateHz
  throw new Error(`Plugin "${name}" names ${sampleRateHz} as its sampleRateHz; it is a whole number of 8,000 to 48,000`)
}

/** One question with one answer. */
async function ask(
  process: PluginRunner,
  use: Use,
  options: Options,
  faultOf: FaultOf,
  signal?: AbortSignal,
  timeoutMs = ASK_TIMEOUT_MS,
): Promise<unknown> {
  const giveUp = signalWithin(timeoutMs, ...(signal === undefined ? [] : [signal]))
  try {
    await process.ready()
    giveUp.throwIfAborted()
    const answer = Promise.withResolvers<unknown>()
    let result: unknown
    const session = process.open(use, options, {
      result: (given) => {
        result = given
      },
      done: () => answer.resolve(result),
      failed: answer.reject,
    })
    const cancel = boundary('plugin', (): void => {
      session.cancel()
      answer.reject(giveUp.reason)
    })
    giveUp.addEventListener('abort', cancel, { once: true })
    try {
      return await answer.promise
    } finally {
      giveUp.removeEventListener('abort', cancel)
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw faultOf(error)
  }
}
