import { llm } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { boundary } from '../../lib/async/boundary.ts'
import { signalWithin } from '../../lib/async/signal-within.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { cutText } from '../../lib/text.ts'
import { NO_TRUNKS } from '../../plugin-sdk/telephony/trunk.ts'
import type { PluginKind } from '../contract.ts'
import { closeInstance, type PluginRegistry } from '../host.ts'

const TIMEOUT_MS = 30_000
const RATE_HZ = 16_000
const FRAME = RATE_HZ / 50
const ONE_ATTEMPT = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: TIMEOUT_MS }

export interface SelfTest {
  kind: PluginKind
  /** What it did, in a sentence; or what it did not. */
  said: string
  ok: boolean
}

/** Has a plugin do once what each of its kinds is for. A provider behind it may charge for it. */
export async function selfTest(
  registry: PluginRegistry,
  name: string,
  kinds: readonly PluginKind[],
): Promise<SelfTest[]> {
  const results: SelfTest[] = []
  for (const kind of kinds) {
    const test = TESTS[kind]
    if (test === undefined) continue
    try {
      results.push({ kind, ok: true, said: await test(registry, name, signalWithin(TIMEOUT_MS)) })
    } catch (error) {
      results.push({ kind, ok: false, said: error instanceof Error ? error.message : String(error) })
    }
  }
  return results
}

type Test = (registry: PluginRegistry, name: string, signal: AbortSignal) => Promise<string>

const TESTS: Partial<Record<PluginKind, Test>> = {
  llm: answers,
  tts: speaks,
  stt: listens,
  embedding: embeds,
  tools: lists,
  telephony: refusesStrangers,
}

interface Failing {
  on(event: 'error', listener: (failed: { error: Error }) => void): unknown
}

/** Throws the first failure the instance reported. */
function watch(instance: Failing): () => void {
  let failure: Error | undefined
  instance.on(
    'error',
    boundary('plugin', ({ error }) => {
      failure ??= error
    }),
  )
  return () => {
    if (failure !== undefined) throw failure
  }
}

async function answers(registry: PluginRegistry, name: string, signal: AbortSignal): Promise<string> {
  const model = await registry.create('llm', name)
  try {
    const failed = watch(model)
    const chatCtx = llm.ChatContext.empty()
    chatCtx.addMessage({ role: 'user', content: 'Say hello.' })
    const stream = model.chat({ chatCtx, connOptions: ONE_ATTEMPT })
    signal.addEventListener(
      'abort',
      boundary('plugin', () => stream.close()),
      { once: true },
    )
    let text = ''
    for await (const { delta } of stream) text += delta?.content ?? ''
    failed()
    if (text.trim() === '') throw new Error('it answered nothing')
    return `answered "${cutText(text.trim(), 60)}"`
  } finally {
    await closeInstance(model)
  }
}

async function speaks(registry: PluginRegistry, name: string, signal: AbortSignal): Promise<string> {
  const voice = await registry.create('tts', name)
  try {
    const failed = watch(voice)
    const stream = voice.synthesize('Hello.', ONE_ATTEMPT, signal)
    let seconds = 0
    for await (const { frame } of stream) seconds += frame.samplesPerChannel / frame.sampleRate
    failed()
    if (seconds === 0) throw new Error('it made no sound')
    return `spoke for ${seconds.toFixed(1)} s`
  } finally {
    await closeInstance(voice)
  }
}

async function listens(registry: PluginRegistry, name: string, signal: AbortSignal): Promise<string> {
  const ears = await registry.create('stt', name)
  try {
    const failed = watch(ears)
    const stream = ears.stream({ connOptions: ONE_ATTEMPT })
    signal.addEventListener(
      'abort',
      boundary('plugin', () => stream.close()),
      { once: true },
    )
    for (let n = 0; n < 50; n++) stream.pushFrame(new AudioFrame(new Int16Array(FRAME), RATE_HZ, 1, FRAME))
    stream.endInput()
    for await (const _event of stream);
    failed()
    return 'took a second of silence'
  } finally {
    await closeInstance(ears)
  }
}

async function lists(registry: PluginRegistry, name: string, signal: AbortSignal): Promise<string> {
  const tools = await (await registry.create('tools', name)).list(signal)
  if (tools.length === 0) throw new Error('it has no tools')
  return `has the tools ${cutText(tools.map((tool) => tool.name).join(', '), 200)}`
}

/** A call costs money: it places none, and is asked what it must refuse. */
async function refusesStrangers(registry: PluginRegistry, name: string, signal: AbortSignal): Promise<string> {
  const url = `https://patchbay.example/telephony/${name}`
  const door = { publicUrl: url, nodeUrl: url }
  const carrier = await registry.create('telephony', name, { trunks: NO_TRUNKS, door })
  try {
    const target = `/telephony/${name}/voice`
    const request = {
      method: 'POST',
      event: 'voice',
      target,
      query: new URLSearchParams(),
      header: () => '',
      body: '{}',
    }
    const taken = await carrier.web?.handle(request, signal).catch((error: unknown) => {
      if (!(error instanceof PatchbayError) || error.code !== 'forged_request') throw error
    })
    if (taken !== undefined) throw new Error('it took a request that nobody signed')
    return 'refuses a request that its carrier did not sign'
  } finally {
    await closeInstance(carrier)
  }
}

async function embeds(registry: PluginRegistry, name: string, signal: AbortSignal): Promise<string> {
  const embedding = await registry.create('embedding', name)
  const [vector] = await embedding.embed(['hello'], signal)
  if (vector?.length !== embedding.dimensions) throw new Error(`it gave no vector of ${embedding.dimensions} numbers`)
  return `made a vector of ${vector.length} numbers`
}
