import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { ServerMessage } from '../../../api/realtime/messages.ts'
import { DtmfDetector } from '../../../runtime/media/tones/dtmf-detector.ts'
import { DtmfTones } from '../../../runtime/media/tones/dtmf-tones.ts'
import { WAV_HEAD_BYTES } from '../../../runtime/recording/wav.ts'
import { dialAgent, finishedLog, makeAgent } from '../../../scripts/demo/call.ts'
import { voiceProcess } from '../../../scripts/demo/voice-process.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { hurry } from '../../support/world/hurry.ts'
import { waitUntil } from '../../support/world/wait-until.ts'
import { startReceiver } from '../../support/world/webhook-receiver.ts'

/** Of the browser's sound. */
const RATE_HZ = 24_000
const BEEP_MS = 400
const CARD = '4242424242424242'
const TYPED = '4242 4242 4242 4242'
/** As it is written anywhere, in digits or with blanks. */
const LEAK = /4242[ ,]?4242/

t.test('a secret stands nowhere but at its tool, and a value survives the death of the voice worker', async (t) => {
  const instance = await startInstance(t, {
    PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1',
    PATCHBAY_VOICE_WORKERS: '2',
    PATCHBAY_RECORD_CALLS: 'true',
  })
  hurry()
  const signal = AbortSignal.timeout(300_000)
  const receiver = await startReceiver(t, (_, response) => void response.end(`charged ${CARD}`))
  const script = [
    { question: 'call me back', answer: 'I call you: {output}', tool: { name: 'collect_phone', arguments: {} } },
    { question: 'I want to pay', answer: 'Noted: {output}', tool: { name: 'collect_card', arguments: {} } },
    { question: 'charge it', answer: 'So: {output}', tool: { name: 'charge', arguments: { card: '{{card}}' } } },
  ]
  const parameters = { type: 'object', properties: { card: { type: 'string' } }, required: ['card'] }
  const { rest, agentId } = await makeAgent(instance.url, {
    ...{ agent_name: 'Ava', first_message: 'Hello.', system_prompt: 'You are Ava.', dead_air: { enabled: false } },
    ...{ STT_provider: 'sim', TTS_provider: 'sim', TTS_voice: 'tone', LLM_provider: 'sim' },
    LLM_model: JSON.stringify({ firstTokenMs: 20, script }),
    collect: [
      { name: 'phone', type: 'phone' },
      { name: 'card', type: 'digits', secret: true, luhn: true },
    ],
    tools: [
      {
        ...{ type: 'http', name: 'charge', description: 'Charges a card.', parameters, secrets: ['card'] },
        http: { method: 'POST', url: receiver.url, body: { card: '{{card}}', phone: '{{phone}}' } },
      },
    ],
  })
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const said: string[] = []
  const seen: unknown[] = []
  caller.on('message', (message: ServerMessage) => {
    seen.push(message)
    if (message.type === 'transcript' && message.role === 'assistant' && message.final) said.push(message.text)
  })
  const heard = (text: string) =>
    waitUntil(
      () => said.some((one) => one.includes(text)),
      () => `"${text}" in ${JSON.stringify(said)}`,
    )
  interface Logged {
    type: string
    worker?: string
  }
  const eventsOf = async () =>
    (await rest.send<{ items: Logged[] }>('GET', `/calls/${callLogId}/events?page_size=200`)).items

  await heard('Hello.')
  caller.type('call me back')
  await heard('What is your phone number?')
  // The worker dies between the question and the answer.
  let pid: number | undefined
  await waitUntil(
    async () => {
      const worker = (await eventsOf()).find(({ type }) => type === 'worker_taken')?.worker
      pid = worker === undefined ? undefined : await voiceProcess(worker)
      return pid !== undefined
    },
    () => 'the process of the voice worker',
  )
  process.kill(pid!, 'SIGKILL')
  await waitUntil(
    async () => (await eventsOf()).some(({ type }) => type === 'resumed'),
    () => 'another worker',
  )
  await waitUntil(
    () => said.filter((one) => one.includes('What is your phone number?')).length === 2,
    () => JSON.stringify(said),
  )
  caller.type('+1 415 555 0123')
  await heard('You said: +1 415')

  await caller.say(beep(), signal)
  caller.type('I want to pay')
  await heard('What is the number')
  // Said and keyed in sound, and typed at last, which is what the agent understands.
  await caller.say(await caller.prepare('four two four two four two four two'), signal)
  await caller.say(keyTones(CARD), signal)
  caller.type(TYPED)
  await heard('Noted:')
  caller.type('charge it')
  await heard('So:')
  const stopped = once(caller, 'agentStops', { signal })
  await stopped
  await caller.hangUp(signal)
  const log = await finishedLog(rest, callLogId, signal)

  t.same(
    receiver.received.map(({ body }) => body),
    [{ card: CARD, phone: '+14155550123' }],
    'the tool has both values, once',
  )
  const events = await eventsOf()
  t.match(
    events.filter(({ type }) => type === 'collected'),
    [
      { name: 'phone', status: 'collected', value: '+14155550123' },
      { name: 'card', status: 'collected', secret: true },
    ],
  )
  t.notMatch(JSON.stringify([events, log, seen, said]), LEAK)
  t.notMatch(instance.output(), LEAK, 'no process has logged it')
  await waitUntil(
    async () =>
      (await rest.send<{ recording_url: string | null }>('GET', `/calls/${callLogId}`)).recording_url !== null,
    () => 'the recording',
  )
  await instance.stop()
  const recordings: Buffer[] = []
  for (const entry of await readdir(instance.dataDir, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    const text = await readFile(path, 'latin1').catch(() => '')
    if (LEAK.test(text)) t.fail(`the secret stands in ${path}`)
    if (text.startsWith('RIFF')) recordings.push(Buffer.from(text, 'latin1'))
  }
  t.equal(recordings.length, 1, 'the call was recorded')
  const sound = callerSide(recordings[0]!)
  t.same(new DtmfDetector(RATE_HZ).push(sound), [], 'no key of the secret can be heard in it')
  const loudMs = (sound.filter((sample) => Math.abs(sample) > 500).length * 1_000) / RATE_HZ
  t.ok(loudMs > 100 && loudMs < BEEP_MS, `of the caller the recording has the beep alone: ${Math.round(loudMs)} ms`)
})

/** Sound that is no secret. */
function beep(): Int16Array<ArrayBuffer> {
  return Int16Array.from({ length: (BEEP_MS * RATE_HZ) / 1_000 }, (_, i) => {
    return Math.round(8_000 * Math.sin((2 * Math.PI * 1_000 * i) / RATE_HZ))
  })
}

/** The keys as a telephone sounds them. */
function keyTones(digits: string): Int16Array<ArrayBuffer> {
  const tones = new DtmfTones(RATE_HZ)
  const frames: number[] = []
  for (tones.send(digits); tones.isBusy; ) frames.push(...tones.next())
  return Int16Array.from(frames)
}

function callerSide(wav: Buffer): Int16Array {
  const frames = Math.floor((wav.length - WAV_HEAD_BYTES) / 4)
  return Int16Array.from({ length: frames }, (_, i) => wav.readInt16LE(WAV_HEAD_BYTES + 4 * i))
}
