import type { Test } from 'tap'
import type { RealtimeTranscription } from '../../../../../packages/plugin/realtime.ts'
import { RealtimeLlm } from '../../../../../runtime/conversation/realtime/realtime-llm.ts'
import type { RealtimeProvider } from '../../../../../runtime/plugin-sdk/realtime/realtime-provider.ts'
import { startGoogleDouble } from '../../../../support/providers/doubles/models/google.ts'
import { startOpenAIDouble } from '../../../../support/providers/doubles/models/openai.ts'
import { registryWith } from '../../../../support/providers/doubles/registry.ts'
import type { Double } from '../../../../support/providers/doubles/server.ts'
import { makeSpeechWorld } from '../../../../support/providers/doubles/speech/speech.ts'
import { DOUBLE_KEY } from '../../../../support/providers/doubles/start.ts'

export const PROMPT = 'The shop is at 12 Pier Street. It opens at nine. Delivery costs three euros anywhere in town.'
export const WHERE = 'Where is the shop?'
export const DELIVERY = 'How much does delivery cost?'

export type Vendor = 'openai' | 'google'

export const VENDORS: readonly Vendor[] = ['openai', 'google']

interface Said {
  readonly role: string
  readonly text: string
}

type Told = Readonly<Record<string, unknown>> & { type?: string }

export interface RealtimeWorld {
  readonly vendor: Vendor
  readonly title: string
  readonly double: Double
  /** What the sessions were told, in order, sound left out. */
  readonly told: Told[]
  readonly refused: string[]
  /** When OpenAI's sessions were asked for answers, and began to sound: as `performance.now()` has it. */
  readonly askedAtMs: number[]
  readonly soundAtMs: number[]
  /** Sessions that were opened or tried. */
  sessions(): number
  /** What the last session believes was said. */
  held(): readonly Said[]
  /** The same of every session, in order. */
  heldByEach(): readonly (readonly Said[])[]
  /** A model of the session for one call. */
  model(options?: Record<string, unknown>): Promise<RealtimeLlm>
}

export interface WorldOptions {
  vendor?: Vendor
  sessionMs?: number
  /** What the model understands. Default: the two questions. */
  utterances?: readonly string[]
  key?: string
  /** The sessions are to write what the caller says. */
  transcribe?: RealtimeTranscription
  /** Where the plugin runs; in the role's process by default. */
  provider?: (t: Test, vendor: Vendor, env: Record<string, string>, own: object) => Promise<RealtimeProvider>
}

export const MODELS: Readonly<Record<Vendor, { model: string; title: string; path: string }>> = {
  openai: { model: 'gpt-realtime-2.1', title: 'OpenAI', path: '/v1/realtime' },
  google: {
    model: 'gemini-3.8-live',
    title: 'Google',
    path: '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent',
  },
}

/** A speech-to-speech service, which refuses what the real one refuses. */
export async function realtimeWorld(t: Test, options: WorldOptions = {}): Promise<RealtimeWorld> {
  const { vendor = 'openai', sessionMs, utterances = [WHERE, DELIVERY], key = DOUBLE_KEY } = options
  const speech = await makeSpeechWorld(utterances)
  const told: Told[] = []
  const refused: string[] = []
  const askedAtMs: number[] = []
  const soundAtMs: number[] = []
  const sessions: RealtimeWorld['held'][] = []
  const watched = {
    speech,
    sessionMs,
    told: (event: Told) => {
      if (event.type === 'response.create') askedAtMs.push(performance.now())
      if (!isSound(event)) told.push(event)
    },
    says: (type: string) => {
      const isFirst = type === 'response.output_audio.delta' && soundAtMs.length < askedAtMs.length
      if (isFirst) soundAtMs.push(performance.now())
    },
    refused: (code: string | number | null, message: string) => void refused.push(`${code}: ${message}`),
    began: (held: RealtimeWorld['held']) => void sessions.push(held),
  }
  const double =
    vendor === 'openai'
      ? await startOpenAIDouble({ key: DOUBLE_KEY, speech, conversation: watched })
      : await startGoogleDouble({ key: DOUBLE_KEY, speech, live: watched })
  t.teardown(async () => {
    await double.stop()
    speech.stop()
  })
  const env: Record<string, string> =
    vendor === 'openai'
      ? { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${double.url}/v1` }
      : { GOOGLE_API_KEY: key, GOOGLE_BASE_URL: double.url }
  const { model, title, path } = MODELS[vendor]
  const make =
    options.provider ??
    (async (_t, _vendor, _env, own) => {
      const registry = await registryWith(t, env, { [vendor]: own as Record<string, unknown> })
      return registry.create('realtime', vendor, { model })
    })
  return {
    vendor,
    title,
    double,
    told,
    refused,
    askedAtMs,
    soundAtMs,
    sessions: () => double.requests.filter((one) => one === `UPGRADE ${path}`).length,
    held: () => sessions.at(-1)?.() ?? [],
    heldByEach: () => sessions.map((held) => held()),
    async model(own = {}) {
      const provider = await make(t, vendor, env, own)
      return new RealtimeLlm({
        provider,
        name: vendor,
        model,
        identity: { title },
        config: { instructions: '', tools: [], ...(options.transcribe && { transcribe: options.transcribe }) },
      })
    },
  }
}

function isSound(event: Told): boolean {
  const input = event.realtimeInput as { audio?: unknown } | undefined
  return event.type === 'input_audio_buffer.append' || input?.audio !== undefined
}
