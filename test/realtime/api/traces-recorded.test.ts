import t from 'tap'
import { PHONE_RATE_HZ, phoneSays } from '../../support/phone/phone-says.ts'
import { recordingOf } from '../../support/phone/recording-of.ts'
import { startTestVoice } from '../../support/phone/voice.ts'
import { WirePhone } from '../../support/phone/wire-phone.ts'
import { type CollectedSpan, startCollector } from '../../support/providers/otlp-collector.ts'
import { skipWithout } from '../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../support/sip/sip-phone.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

/** A telephone call of ten turns: what its trace says, beside what its recording has. */
/** Runs alone: its clocks agree within a frame, and a frame that waits for the processor as long is none of the trace's faults. */

const QUESTION = 'What are your opening hours?'
const TURNS = 10
const WITHIN_MS = 20
/** A sample as loud as this is of a voice: the line is quieter. */
const LOUD = 200
/** Before what begins, and after what ends, it is silent for so long. */
const SILENT_MS = 60

t.test(
  'the spans of a call of ten turns are where its recording has the voices',
  { skip: skipWithout('espeak-ng'), timeout: 800_000 },
  async (t) => {
    const collector = await startCollector(t)
    const sip = await startSipApi(t, {
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, PATCHBAY_RECORD_CALLS: 'true' },
    })
    await startTestVoice(t, sip.api)
    const { client } = sip.user
    const { number, agentId } = await addSipNumber(sip)
    const changed = await client.patch(`/agents/${agentId}`, {
      body: {
        ...{ STT_provider: 'sim', LLM_provider: 'sim', TTS_provider: 'sim', TTS_voice: 'tone' },
        LLM_model: JSON.stringify({ script: [{ question: QUESTION, answer: 'From nine to five.' }] }),
      },
    })
    t.equal(changed.status, 200, changed.text)
    const question = await phoneSays(QUESTION)
    const phone = await WirePhone.start(t, sip.sipPort)
    await phone.call(number)
    const { call_log_id } = (await client.get('/calls/logs')).body.items[0]
    /** Turns of each so far. */
    const count = async () => {
      const { transcript } = (await client.get(`/calls/${call_log_id}`)).body
      const of = (wanted: string): number => transcript.filter(({ role }: { role: string }) => role === wanted).length
      return { caller: of('user'), agent: of('assistant') }
    }
    await waitUntil(async () => (await count()).agent > 0)
    // A machine that is busy may not understand every question; then it says so, and is asked again.
    for (let counted = await count(); counted.caller < TURNS; counted = await count()) {
      phone.say(question)
      await waitUntil(async () => (await count()).agent > counted.agent)
    }
    await phone.hangUp()
    const recording = await recordingOf(client, call_log_id)
    await waitUntil(() => collector.spans.some(({ name }) => name === 'call'))
    const traceId = call_log_id.replaceAll('-', '')
    const spans = collector.spans.filter((span) => span.traceId === traceId)
    const { body: log } = await client.get(`/calls/${call_log_id}/events`, { query: { page_size: 200 } })
    const first = (wanted: string) => log.items.find(({ type }: { type: string }) => type === wanted)
    t.equal(first('recording_started').start_ms, 0, 'the recording begins with the answer')
    const answeredMs = Date.parse(first('answered').at)

    /** Where the sound begins or ends that is nearest to there, and how far off. */
    const offBy = (side: Int16Array, edge: 'startMs' | 'endMs', span: CollectedSpan): number => {
      const atMs = span[edge] - answeredMs
      const edges = edgesOf(side)[edge]
      const [nearest = Number.NaN] = edges.toSorted((a, b) => Math.abs(a - atMs) - Math.abs(b - atMs))
      return atMs - nearest
    }
    const turns = spans.filter(({ name }) => name === 'turn')
    t.ok(turns.length >= TURNS, `${turns.length} turns`)
    const off: Record<string, number[]> = {}
    for (const turn of turns) {
      const parts = spans.filter(({ parentSpanId }) => parentSpanId === turn.spanId)
      const part = (name: string): CollectedSpan | undefined => parts.find((span) => span.name === name)
      const [caller, agent] = [part('caller speaks'), part('agent speaks')]
      if (caller === undefined || agent === undefined) {
        t.fail(`a turn without ${caller === undefined ? 'its caller' : 'an answer'}`)
        continue
      }
      const stages = parts.filter(({ name }) => /^(stt|endpointing|chat|tts|playout)/.test(name))
      const sumMs = stages.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)
      const found = {
        'the caller begins': offBy(recording.caller, 'startMs', caller),
        'the caller ends': offBy(recording.caller, 'endMs', caller),
        'the agent begins': offBy(recording.agent, 'startMs', agent),
        'the agent ends': offBy(recording.agent, 'endMs', agent),
        'all stages together': sumMs - (agent.startMs - caller.endMs),
      }
      for (const [what, ms] of Object.entries(found)) off[what] = [...(off[what] ?? []), ms]
    }
    for (const [what, all] of Object.entries(off)) {
      const most = Math.max(...all.map(Math.abs))
      t.ok(most <= WITHIN_MS, `${what}: ${all.map((ms) => ms.toFixed(1)).join(', ')} ms off the recording`)
    }
  },
)

/** Where sounds begin after a silence, and end before one, in ms from the beginning. */
function edgesOf(side: Int16Array): { startMs: number[]; endMs: number[] } {
  const edges = { startMs: [] as number[], endMs: [] as number[] }
  let lastLoud = Number.NEGATIVE_INFINITY
  for (const [i, sample] of side.entries()) {
    if (Math.abs(sample) <= LOUD) continue
    if (i - lastLoud > (SILENT_MS * PHONE_RATE_HZ) / 1_000) {
      if (lastLoud >= 0) edges.endMs.push(((lastLoud + 1) * 1_000) / PHONE_RATE_HZ)
      edges.startMs.push((i * 1_000) / PHONE_RATE_HZ)
    }
    lastLoud = i
  }
  edges.endMs.push(((lastLoud + 1) * 1_000) / PHONE_RATE_HZ)
  return edges
}
