import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import WebSocket from 'ws'
import { concatSamples } from '../../../runtime/media/frame.ts'
import { Resampler } from '../../../runtime/media/resample.ts'
import { ESPEAK_SAMPLE_RATE_HZ, espeak } from '../../../runtime/speech/espeak.ts'
import { type Asked, startChatServer } from '../../support/chat-server.ts'
import { until } from '../../support/realtime-node.ts'
import { skipWithout, startBaresip } from '../../support/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../support/sip-phone.ts'
import { startTestVoice } from '../../support/voice.ts'

const skip = skipWithout('baresip', 'espeak-ng')
const QUESTION = 'What are your opening hours?'
/** Of the supervisor, unlike any sound of a telephone's own. */
const LEVEL = 9_000
const FRAME_MS = 20

t.test(
  'a supervisor takes a telephone call over, speaks, and gives it back to an agent that knows',
  { skip, timeout: 280_000 },
  async (t) => {
    const asked: Asked[] = []
    const server = await startChatServer(t, (body) => {
      asked.push(body)
      return 'Then Monday it is.'
    })
    const { env } = server
    const sip = await startSipApi(t, { env })
    await startTestVoice(t, sip.api, env)
    const { number, agentId } = await addSipNumber(sip)
    const { client } = sip.user
    const changed = await client.patch(`/agents/${agentId}`, {
      body: { LLM_provider: 'openai', LLM_model: 'gpt-4o-mini' },
    })
    t.equal(changed.status, 200, changed.text)

    const question = await say(QUESTION)
    // Again and again, so that it is said while the supervisor has the call.
    const says = new Int16Array(8 * 180_000)
    for (let ms = 2_000; ms < 170_000; ms += 9_000) says.set(question, 8 * ms)
    const phone = await startBaresip(t, { says })
    phone.command('dial', `sip:${number}@127.0.0.1:${sip.sipPort}`)
    await phone.event('CALL_ESTABLISHED')
    const { body: calls } = await client.get('/calls/logs')
    const callId = calls.items[0].call_log_id
    await until(async () => (await client.get(`/calls/${callId}`)).body.status === 'in_progress')

    const listen = await client.post(`/calls/${callId}/listen`)
    const socket = new WebSocket(listen.body.url)
    t.teardown(() => socket.terminate())
    // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
    const messages: any[] = []
    socket.on('message', (data, isBinary) => !isBinary && messages.push(JSON.parse(String(data))))
    const happened = (type: string) => messages.filter(({ event }) => event?.type === type)
    await until(() => messages.some(({ type }) => type === 'listening'))
    const { sample_rate: rateHz } = messages[0].audio
    socket.send(JSON.stringify({ type: 'take_over' }))
    await until(() => happened('took_over').length === 1)
    const before = asked.length
    const spokenMs = await speakUntil(socket, rateHz, () => happened('turn').length > 0)
    t.equal(asked.length, before, 'nobody but the supervisor answers')
    socket.send(JSON.stringify({ type: 'give_back', summary: 'A table on Monday was agreed' }))
    await until(
      () => asked.length > before,
      () => JSON.stringify(messages.filter(({ type }) => type === 'event')),
    )
    const context = JSON.stringify(asked.at(-1)?.messages)
    t.match(context, 'A table on Monday was agreed')
    t.match(context, QUESTION, 'what the caller told the supervisor')

    socket.send(JSON.stringify({ type: 'take_over' }))
    await until(() => happened('took_over').length === 2)
    const killedMs = performance.now()
    socket.terminate()
    await until(async () => {
      const { body } = await client.get(`/calls/${callId}/events`, { query: { page_size: 200 } })
      return body.items.filter(({ type }: { type: string }) => type === 'gave_back').length === 2
    })
    // The journal is written about once a second.
    t.ok(performance.now() - killedMs < 5_000 + 2_000, `${performance.now() - killedMs} ms`)
    phone.command('hangup')
    const heard = await phone.heard()
    const level = longestSteady(heard)
    t.ok(level > Math.min(1_000, spokenMs / 2), `the phone heard ${level} ms of the supervisor's ${spokenMs}`)
  },
)

/** Sends a steady sound as it would be spoken. Resolves with how long. */
async function speakUntil(socket: WebSocket, rateHz: number, isOver: () => boolean): Promise<number> {
  const frame = Buffer.from(new Int16Array((rateHz * FRAME_MS) / 1_000).fill(LEVEL).buffer)
  const startedMs = performance.now()
  let sentMs = 0
  while (!isOver() || sentMs < 2_000) {
    for (; sentMs < performance.now() - startedMs; sentMs += FRAME_MS) socket.send(frame)
    await sleep(FRAME_MS)
    if (sentMs > 60_000) throw new Error('No turn of the caller was written down')
  }
  return sentMs
}

/** Of samples at 8 kHz near that level, the longest run in ms, what jitter takes out of it aside. */
function longestSteady(samples: Int16Array): number {
  let [longest, run, others] = [0, 0, 0]
  for (const sample of samples) {
    if (Math.abs(sample - LEVEL) < LEVEL / 8) {
      run++
      others = 0
    } else if (++others > 8 * 60) run = 0
    longest = Math.max(longest, run)
  }
  return longest / 8
}

/** At 8 kHz. */
async function say(text: string): Promise<Int16Array> {
  const resampler = new Resampler(ESPEAK_SAMPLE_RATE_HZ, 8_000)
  const run = (program: string, args: readonly string[], options = {}) =>
    spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] })
  let samples: Int16Array = new Int16Array(0)
  for await (const part of espeak(run, text, { voice: 'en-us', trimEnd: true }, new AbortController().signal)) {
    samples = concatSamples(samples, resampler.push(part))
  }
  return concatSamples(samples, resampler.flush())
}
