import { join } from 'node:path'
import type { ApiClient } from '../../../support/instance/api.ts'
import type { Teardown } from '../../../support/instance/services.ts'
import { startSipInstance } from '../../../support/instance/sip-instance.ts'
import { phoneSays, saying } from '../../../support/phone/phone-says.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'
import { type Baresip, startBaresip } from '../../../support/sip/sip-peers.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

/** Telephone calls of softphones with agents that think and speak by a speech-to-speech model, in a Patchbay as an operator starts it. */

/** What a session of the model holds. */
interface Said {
  readonly role: string
  readonly text: string
}

export const USE_TOOL = 'Please use the tool.'
export const INVOICES = 'When are invoices sent?'
export const DELIVERY = 'How much does delivery cost?'
export const HOURS = 'What are your opening hours?'
export const PARKING = 'Where can I park?'
export const COSTS = 'Delivery costs three euros anywhere in town.'
const LONG =
  'You can park behind the house, where there are forty places, and in the street before it, which is quiet in the evening, and on the large square near the church, where it costs nothing on Sundays.'
export const PROMPT = `Our opening hours are nine to five. ${COSTS} ${LONG}`
export const SPEECH_TO_SPEECH = {
  ...{ LLM_provider: 'openai', LLM_model: 'gpt-realtime-2.1' },
  ...{ STT_provider: 'deepgram', TTS_provider: 'openai', TTS_voice: 'marin' },
}
const PRICES = join(import.meta.dirname, '../../../../config/prices.json')
/** Longer than any call lasts. */
const CALL_MS = 300_000

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field
export type Body = any

export interface RealtimePhones {
  readonly client: ApiClient
  readonly sipPort: number
  /** What each session of the model believes was said, and what was refused. */
  readonly sessions: readonly (() => readonly Said[])[]
  readonly refused: readonly string[]
  /** An agent with such a model, and its number. */
  addAgent(agent: Record<string, unknown>): Promise<{ agentId: string; number: string }>
  /** A softphone that has called; resolves once the agent's first words were heard. */
  call(t: Teardown, number: string): Promise<Baresip>
  /** The call of a number, once it is as wanted. */
  callOf(number: string, wanted: (call: Body) => boolean): Promise<Body>
  eventsOf(callId: string, type: string): Promise<Body[]>
  /** Has a phone say this, and then nothing. */
  say(phone: Baresip, text: string): Promise<void>
}

export const SILENCE = saying([], CALL_MS)

let numbers = 0

export async function startRealtimePhones(t: Teardown, env: Record<string, string> = {}): Promise<RealtimePhones> {
  const sessions: (() => readonly Said[])[] = []
  const refused: string[] = []
  const doubles = await startDoubles([USE_TOOL, INVOICES], {
    refused: (code, message) => void refused.push(`${code}: ${message}`),
    began: (held) => void sessions.push(held),
  })
  t.teardown(doubles.stop)
  // A server that is not OpenAI's has no prices but the operator's.
  const own = { PATCHBAY_RECORD_CALLS: 'true', PATCHBAY_PRICES: PRICES }
  const { client, sipPort } = await startSipInstance(t, { ...doubles.env, ...own, ...env })
  const callOf: RealtimePhones['callOf'] = async (number, wanted) => {
    let found: Body
    await waitUntil(
      async () => {
        const { items } = (await client.get('/calls/logs')).body
        found = items.find((one: Body) => one.to_number === number && one.direction === 'inbound')
        return found !== undefined && wanted(found)
      },
      () => `the call to ${number} is as wanted: ${JSON.stringify(found)}; refused ${refused}`,
    )
    return found
  }
  return {
    ...{ client, sipPort, sessions, refused, callOf },
    async addAgent(agent) {
      const { body, status } = await client.post('/agents', {
        body: { agent_name: 'Ada', system_prompt: PROMPT, first_message: 'Hello!', ...SPEECH_TO_SPEECH, ...agent },
      })
      if (status !== 201) throw new Error(JSON.stringify(body))
      const number = `+1415555${3000 + ++numbers}`
      const { agent_id: agentId } = body
      await client.post('/phone-numbers', { body: { phone_number: number, provider: 'sip', agent_id: agentId } })
      return { agentId, number }
    },
    async call(t, number) {
      const phone = await startBaresip(t, { says: SILENCE })
      phone.command('dial', `sip:${number}@127.0.0.1:${sipPort}`)
      await phone.event('CALL_ESTABLISHED')
      await callOf(number, ({ transcript }) => transcript.length > 0)
      return phone
    },
    async eventsOf(callId, type) {
      const { items } = (await client.get(`/calls/${callId}/events?page_size=200`)).body
      return items.filter((one: Body) => one.type === type)
    },
    async say(phone, text) {
      await phone.say(saying([[300, await phoneSays(text)]], CALL_MS))
    },
  }
}

export const saidBy = (call: Body, role: 'user' | 'assistant'): string[] =>
  call.transcript.filter((turn: Body) => turn.role === role).map((turn: Body) => turn.text)

/** How much of it is louder than the noise of a line. */
export function speechMs(samples: Int16Array): number {
  let frames = 0
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    const frame = samples.subarray(at, at + 160)
    if (Math.sqrt(frame.reduce((sum, one) => sum + one ** 2, 0) / frame.length) > 300) frames++
  }
  return frames * 20
}
