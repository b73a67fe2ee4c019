/**
 * The suite that a plugin has to pass, against the plain contract:
 *
 *     import { conformanceOf } from '@patchbay/plugin/test'
 *     import plugin from './mod.ts'
 *
 *     for (const { kind, behaviour, fault } of await conformanceOf(plugin, { env: { ACME_KEY: 'k' } })) …
 */
import type {
  CarrierRequest,
  ChatRequest,
  Factories,
  Host,
  Llm,
  LlmEvent,
  Options,
  StreamDoor,
  Stt,
  SttEvent,
  Telephony,
  Toolbox,
  Tts,
} from './mod.ts'
import { carrierNewsOf, documentOf, telephonyDescriptionOf } from './telephony-values.ts'
import { iterableOf, llmEventOf, pcmSamplesOf, sttEventOf, toolsOf, vectorsOf } from './values.ts'

/** One behaviour of a kind, and what is wrong with it. */
export interface Conformance {
  readonly kind: 'llm' | 'stt' | 'tts' | 'embedding' | 'tools' | 'telephony'
  readonly behaviour: string
  /** Absent: it behaves so. */
  readonly fault?: string
}

export interface ConformanceOptions {
  /** Variables that the plugin is granted. */
  readonly env?: Readonly<Record<string, string>>
  readonly options?: Partial<Options>
  /** What is chosen for one kind besides, such as its model. */
  readonly byKind?: Readonly<Partial<Record<Conformance['kind'], Partial<Options>>>>
  /** The host to give to factories, in place of one with these variables. */
  readonly host?: Host
  /** Of each behaviour. Default: 20,000. */
  readonly timeoutMs?: number
}

type Behaviour<T> = readonly [
  name: string,
  check: (instance: T, signal: AbortSignal, make: () => Promise<T>) => Promise<void>,
]

/** How long a plugin may take to stop once its signal aborts. */
const MAX_STOP_MS = 1_000
const DEFAULT_TIMEOUT_MS = 20_000
const SECOND_MS = 1_000

/** Has each kind of the plugin do what its behaviours are, one after the other. Never throws for what the plugin does. */
export async function conformanceOf(factories: Factories, given: ConformanceOptions = {}): Promise<Conformance[]> {
  const host = given.host ?? testHost(given.env ?? {})
  const options: Options = { settings: {}, ...given.options }
  const timeoutMs = given.timeoutMs ?? DEFAULT_TIMEOUT_MS
  const results: Conformance[] = []
  const run = async <T>(
    kind: Conformance['kind'],
    factory: ((host: Host, options: Options) => T | Promise<T>) | undefined,
    behaviours: readonly Behaviour<T>[],
  ): Promise<void> => {
    if (factory === undefined) return
    const make = async (): Promise<T> => factory(host, { ...options, ...given.byKind?.[kind] })
    for (const [behaviour, check] of behaviours) {
      const fault = await faultOf((signal) => make().then((instance) => check(instance, signal, make)), timeoutMs)
      results.push({ kind, behaviour, ...(fault === undefined ? {} : { fault }) })
    }
  }
  await run('llm', factories.llm, LLM)
  await run('tts', factories.tts, TTS)
  await run('stt', factories.stt, STT)
  await run('embedding', factories.embedding, [
    [
      'gives a vector for each text',
      async (embedding, signal) => {
        const texts = ['hello', '', 'grüße 🦜']
        vectorsOf(await embedding.embed(texts, signal), embedding, texts.length)
      },
    ],
  ])
  await run('tools', factories.tools, TOOLS)
  await run('telephony', factories.telephony, TELEPHONY)
  return results
}

async function faultOf(act: (signal: AbortSignal) => Promise<void>, timeoutMs: number): Promise<string | undefined> {
  const over = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It took longer than ${timeoutMs} ms`)), timeoutMs)
  })
  try {
    await Promise.race([act(over.signal), late])
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : `It threw ${String(error)}`
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

/** A host for tests, with these variables and no others. Its log goes to the console. */
export function testHost(env: Readonly<Record<string, string>>): Host {
  const log = (message: string): void => console.error(message)
  return {
    plugin: 'test',
    env: { get: (name) => env[name] },
    log: { debug: log, info: log, warn: log, error: log },
    signal: new AbortController().signal,
  }
}

const say = (content: string, more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [
    { role: 'system', content: 'You answer in one short sentence.' },
    { role: 'user', content },
  ],
  tools: [],
  ...more,
})

const LOOK_UP = {
  name: 'look_up',
  description: 'Looks an order up.',
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
}

const LLM: readonly Behaviour<Llm>[] = [
  [
    'answers in events of the contract',
    async (llm, signal) => requireAnswer(await answerOf(llm, say('Say hello.'), signal)),
  ],
  [
    'stops when its signal aborts',
    async (llm) => requireStop((signal) => llm.chat(say('Count to a hundred.'), signal)),
  ],
  [
    'answers two sessions at once',
    async (llm, signal, make) => {
      const other = await make()
      const both = [answerOf(llm, say('Say one.'), signal), answerOf(other, say('Say two.'), signal)]
      for (const answer of await Promise.all(both)) requireAnswer(answer)
    },
  ],
  [
    'takes tools, and a conversation in which one was called',
    async (llm, signal) => {
      requireAnswer(await answerOf(llm, say('Look up order 7.', { tools: [LOOK_UP] }), signal))
      const messages = [
        ...say('Look up order 7.').messages,
        { role: 'tool_call', id: 'c1', name: 'look_up', arguments: '{"id":"7"}' },
        { role: 'tool_result', id: 'c1', name: 'look_up', content: 'shipped' },
      ] as const
      requireAnswer(await answerOf(llm, { messages, tools: [LOOK_UP] }, signal))
    },
  ],
  [
    'takes text of any language',
    async (llm, signal) => requireAnswer(await answerOf(llm, say('Grüß Gott 🦜 — 你好!\n"'), signal)),
  ],
]

async function answerOf(llm: Llm, request: ChatRequest, signal: AbortSignal): Promise<LlmEvent[]> {
  const events: LlmEvent[] = []
  for await (const given of iterableOf(llm.chat(request, signal), 'chat')) {
    const event = llmEventOf(given, (why) => {
      throw new Error(why)
    })
    if (event !== undefined) events.push(event)
  }
  return events
}

function requireAnswer(events: readonly LlmEvent[]): void {
  const calls = events.filter((event) => event.type === 'tool_call')
  for (const call of calls) JSON.parse(call.arguments)
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
  if (text.trim() === '' && calls.length === 0) throw new Error('It gave neither words nor a tool call')
}

const TOOLS: readonly Behaviour<Toolbox>[] = [
  [
    'lists tools that models can call',
    async (toolbox, signal) => {
      const tools = toolsOf(await toolbox.list(signal))
      if (tools.length === 0) throw new Error('It has no tools')
      for (const { name, description, parameters } of tools) {
        if (!/^[A-Za-z0-9_-]{1,64}$/.test(name))
          throw new Error(`"${name}" is no name of a tool: letters, digits, _ and -`)
        if (description.trim() === '') throw new Error(`"${name}" does not say when it is used`)
        if (parameters.type !== 'object') throw new Error(`The parameters of "${name}" are no JSON Schema of an object`)
      }
      if (new Set(tools.map(({ name }) => name)).size < tools.length) throw new Error('Two tools have one name')
    },
  ],
  [
    'refuses a tool that it has not',
    async (toolbox, signal) => {
      const call = { name: 'no_such_tool', input: {}, workspaceId: 'test' }
      const answer = await toolbox.call(call, signal).catch(() => undefined)
      if (answer !== undefined) throw new Error('It answered a call of "no_such_tool"')
    },
  ],
]

const CARRIER_URL = 'https://patchbay.example/telephony/test'
const DOOR: StreamDoor = {
  streamUrl: () => `${CARRIER_URL.replace('https', 'wss')}/stream?pass=0123`,
  callbackUrl: (event) => `${CARRIER_URL}/${event}`,
}
/** What a stranger sends. */
const strange = (body: string): CarrierRequest => ({
  ...{ method: 'POST', event: 'no-such-event', target: '/telephony/test/no-such-event', body },
  query: new URLSearchParams(),
  header: () => '',
})

const TELEPHONY: readonly Behaviour<Telephony>[] = [
  ['describes itself and its streams', async (carrier) => void telephonyDescriptionOf(carrier)],
  [
    'refuses a request that nobody signed',
    async (carrier) => {
      for (const body of ['', '{}', 'From=%2B14155550100&To=%2B14155550101']) {
        const isSigned = await carrier.verify(strange(body), [`${CARRIER_URL}/no-such-event`])
        if (isSigned !== false) throw new Error(`verify() gave ${String(isSigned)} for a request without a signature`)
      }
    },
  ],
  [
    'leaves out an event that it does not know, and a body that it can’t read',
    async (carrier) => {
      for (const body of ['{}', '', '{"a":']) {
        const news = await Promise.resolve()
          .then(() => carrier.read(strange(body)))
          .catch((error: unknown) => {
            if (!(error instanceof SyntaxError)) throw error
          })
        if (carrierNewsOf(news) !== undefined) throw new Error('read() gave news for an event of no name')
      }
    },
  ],
  [
    'writes instructions that lead to the stream',
    async (carrier) => {
      const document = documentOf(await carrier.join({ callId: 'c1', token: 'f'.repeat(64) }, DOOR))
      if (!document.includes(DOOR.streamUrl(''))) throw new Error(`join() does not name the stream: ${document}`)
      for (const as of ['busy', 'rejected'] as const) documentOf(await carrier.reject(as))
      if (carrier.hangup !== undefined) documentOf(await carrier.hangup())
    },
  ],
]

const TTS: readonly Behaviour<Tts>[] = [
  ['speaks in 16-bit samples', async (tts, signal) => requireSound(await soundOf(tts, 'Hello there.', signal))],
  [
    'stops when its signal aborts',
    async (tts) => requireStop((signal) => tts.speak('One, two, three. '.repeat(40), signal)),
  ],
  [
    'speaks two sentences at once',
    async (tts, signal, make) => {
      const other = await make()
      for (const samples of await Promise.all([soundOf(tts, 'One.', signal), soundOf(other, 'Two.', signal)]))
        requireSound(samples)
    },
  ],
  [
    'speaks text of any language',
    async (tts, signal) => void (await soundOf(tts, 'Grüße, 你好 & <b>"7"</b>.', signal)),
  ],
]

async function soundOf(tts: Tts, text: string, signal: AbortSignal): Promise<number> {
  requireRate(tts.sampleRateHz)
  let samples = 0
  for await (const given of iterableOf(tts.speak(text, signal), 'speak')) samples += pcmSamplesOf(given).length
  return samples
}

function requireRate(sampleRateHz: unknown): void {
  if (Number.isInteger(sampleRateHz) && (sampleRateHz as number) >= 8_000 && (sampleRateHz as number) <= 48_000) return
  throw new Error(`sampleRateHz is ${String(sampleRateHz)}; it is a whole number of 8,000 to 48,000`)
}

function requireSound(samples: number): void {
  if (samples === 0) throw new Error('It made no sound')
}

const STT: readonly Behaviour<Stt>[] = [
  ['takes a second of silence', async (stt, signal) => void (await heardIn(stt, stt.sampleRateHz / 50, signal))],
  ['takes audio in pieces of odd length', async (stt, signal) => void (await heardIn(stt, 37, signal))],
  ['ends when the audio ends at once', async (stt, signal) => void (await heardIn(stt, 0, signal))],
  [
    'stops when its signal aborts',
    async (stt) =>
      requireStop((signal) => {
        const samples = new Int16Array(stt.sampleRateHz / 50)
        const forever = (async function* () {
          while (!signal.aborted) {
            yield samples
            await new Promise((resolve) => setTimeout(resolve, 20))
          }
        })()
        return stt.recognise(forever, signal)
      }),
  ],
  [
    'hears two callers at once',
    async (stt, signal, make) => {
      const other = await make()
      await Promise.all([heardIn(stt, stt.sampleRateHz / 50, signal), heardIn(other, stt.sampleRateHz / 50, signal)])
    },
  ],
]

async function heardIn(stt: Stt, pieceSamples: number, signal: AbortSignal): Promise<SttEvent[]> {
  requireRate(stt.sampleRateHz)
  const audio = (async function* () {
    const pieces = pieceSamples === 0 ? 0 : Math.floor(stt.sampleRateHz / pieceSamples)
    for (let n = 0; n < pieces; n++) yield new Int16Array(pieceSamples)
  })()
  const events: SttEvent[] = []
  for await (const event of iterableOf(stt.recognise(audio, signal), 'recognise')) events.push(sttEventOf(event))
  return events
}

/** It ends within a second of the abort, without an error of its own. */
async function requireStop(begin: (signal: AbortSignal) => AsyncIterable<unknown>): Promise<void> {
  const abort = new AbortController()
  const reading = (async () => {
    for await (const _ of begin(abort.signal)) if (!abort.signal.aborted) setTimeout(() => abort.abort(), 0)
  })().catch((error: unknown) => {
    if (!abort.signal.aborted) throw error
  })
  const timer = setTimeout(() => abort.abort(), SECOND_MS)
  let late: ReturnType<typeof setTimeout> | undefined
  const tooLate = new Promise<never>((_, reject) => {
    abort.signal.addEventListener('abort', () => {
      late = setTimeout(
        () => reject(new Error(`It went on for more than ${MAX_STOP_MS} ms after the abort`)),
        MAX_STOP_MS,
      )
    })
  })
  try {
    await Promise.race([reading, tooLate])
  } finally {
    clearTimeout(timer)
    clearTimeout(late)
    abort.abort()
  }
}
