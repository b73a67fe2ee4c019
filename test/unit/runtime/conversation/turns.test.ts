import { setTimeout as sleep } from 'node:timers/promises'
import { APIStatusError } from '@livekit/agents'
import { test } from 'tap'
import type { CallEvent } from '../../../../runtime/call/log/events.ts'
import { bytesOf, firstLoud, lastLoud } from '../../../../runtime/media/frame.ts'
import { ownTime } from '../../../support/world/own-time.ts'
import { AHEAD, call, RATE_HZ } from './support/harness.ts'
import { type Reply, ScriptedLlm, ScriptedStt, ToneTts } from './support/providers.ts'
import { resumeAfter } from './support/resume-after.ts'
import { lineNoise, speech } from './support/speech.ts'

const QUESTION = 'What are your opening hours?'
const YES = 'Yes please.'
const providers = (reply: Reply) => ({
  stt: new ScriptedStt({ utterances: [QUESTION, YES] }),
  llm: new ScriptedLlm(reply),
  tts: new ToneTts(),
})
const down = () => new APIStatusError({ message: 'down', options: { statusCode: 500 } })
const key = (digit: string, seq: number): CallEvent => ({ type: 'key', digit, seq, at: 0 })
const typed = (text: string, seq: number): CallEvent => ({ type: 'typed', text, seq, at: 0 })

test('a key during the recording notice neither ends the call nor is lost', async (t) => {
  const { port, conversation, hangUp } = await call({
    providers: providers(() => 'Fine.'),
    agent: { recordingNotice: 'Recorded.', consentMessage: 'May we?', firstMessage: 'Hello.' },
  })
  t.teardown(hangUp)
  await port.until('the notice sounds', () => port.loudFrames > 5)
  conversation.input(key('1', 7))
  await port.until('the first message was said', () => port.said.at(-1)?.includes('Hello.') === true)
  t.strictSame(port.consents, ['given'])
  t.match(port.said[0], 'assistant: Recorded.')
  t.ok(port.events.some((event) => event.type === 'consent' && event.inputs?.[0] === 7))
  t.strictSame(port.endings, [])
})

test('a machine that picks up hears the recording notice to its end, then the message', async (t) => {
  // Longer than the carrier's word is doubted.
  const recordingNotice = Array(12).fill('This call is recorded.').join(' ')
  const { port, conversation, say, hangUp } = await call({
    providers: providers(() => 'Fine.'),
    agent: {
      recordingNotice,
      firstMessage: 'Hello.',
      voicemail: { behaviour: 'leave_message', message: 'Please call back.' },
    },
  })
  t.teardown(hangUp)
  await port.until('the notice sounds', () => port.loudFrames > 5)
  conversation.input({ type: 'answered_by', by: 'machine', source: 'carrier', seq: 1, at: 0 })
  await port.until('it is a machine', () => port.answerers.includes('machine'))
  t.strictSame(port.said, [])
  await say(Int16Array.from({ length: RATE_HZ / 2 }, (_, n) => 8_000 * Math.sin((2 * Math.PI * 1_000 * n) / RATE_HZ)))
  await port.until('the end', () => port.endings.length > 0)
  t.strictSame(port.said, [`assistant: ${recordingNotice}`, 'assistant: Please call back.'])
  t.match(port.endings, [{ reason: 'voicemail' }])
})

test('keys and typed words during the notice are answered after it, each its own turn', async (t) => {
  const { port, conversation, failures, hangUp } = await call({
    providers: providers((words) => `To ${words}.`),
    agent: { recordingNotice: 'This is recorded.' },
  })
  t.teardown(hangUp)
  await port.until('the notice sounds', () => port.loudFrames > 5)
  conversation.input(key('4', 1))
  conversation.input(key('#', 2))
  conversation.input(typed('I need help', 3))
  await port.until('both are turns', () => port.turns.filter(({ turn }) => turn.role === 'user').length === 2)
  await port.until('they are answered', () => port.said.at(-1) === 'assistant: To I need help.')
  t.equal(port.said[0], 'assistant: This is recorded.')
  const turns = port.events.filter((event) => event.type === 'turn')
  t.match(turns, [
    { text: '[The caller pressed 4 # on the keypad]', inputs: [1, 2] },
    { text: 'I need help', inputs: [3] },
  ])
  t.strictSame(failures, [])
})

test('a language model that is down ends the call with the third turn, and no apology counts as an answer', async (t) => {
  const { port, conversation, turnsMeasured, hangUp } = await call({ providers: providers(() => down()) })
  t.teardown(hangUp)
  for (let i = 0; i < 3; i++) {
    const said = port.said.length
    conversation.input(typed(`question ${i}`, i))
    await port.until('it is apologised for', () => port.endings.length > 0 || port.said.length >= said + 2)
  }
  await port.until('the end', () => port.endings.length > 0)
  t.match(port.endings[0], { reason: 'error', error: /llm provider failed 3 times/ })
  t.strictSame(turnsMeasured, [])
  t.equal(port.said.filter((one) => one.includes('say that again')).length, 2)
})

test('a spoken turn whose prepared answer fails is apologised for once, after the turn', async (t) => {
  const { port, say, hangUp } = await call({ providers: providers(() => down()) })
  t.teardown(hangUp)
  await say(speech(QUESTION, RATE_HZ))
  await port.until('the apology', () => port.said.some((one) => one.includes('say that again')))
  await sleep(1_000)
  t.strictSame(port.said, [
    `user: ${QUESTION}`,
    "assistant: Sorry, I'm having a little trouble. Could you say that again?",
  ])
  t.strictSame(port.latencies, [])
})

test('an outage of the recogniser ends no call: the caller is told, and heard again afterwards', async (t) => {
  let outage = true
  const stt = new ScriptedStt({ utterances: [QUESTION], fail: () => (outage ? down() : undefined) })
  const { port, say, hangUp } = await call({ providers: { ...providers(() => 'Nine.'), stt } })
  t.teardown(hangUp)
  await port.until('the caller is told', () => port.said.some((one) => one.includes("can't hear you")))
  await sleep(1_500)
  outage = false
  const opened = stt.streams
  await port.until('a recogniser is there', () => stt.streams > opened)
  await say(speech(QUESTION, RATE_HZ))
  await port.until('the answer', () => port.said.at(-1)?.endsWith('Nine.') === true)
  t.ok(port.said.includes(`user: ${QUESTION}`))
  t.strictSame(port.endings, [])
})

test('the last words of a caller who hangs up before the turn is over are in the record', async (t) => {
  const unfinished = 'I would like to book a table for'
  const stt = new ScriptedStt({ utterances: [unfinished] })
  const { port, say, hangUp } = await call({ providers: { ...providers(() => 'Nine.'), stt } })
  await say(speech(unfinished, RATE_HZ))
  await port.until('the words are there', () => port.words.some(({ final }) => final))
  await hangUp()
  t.strictSame(port.said, [`user: ${unfinished}`])
})

test('a yes over the end of a question is answered', async (t) => {
  const { port, say, hangUp } = await call({
    providers: { ...providers((words) => `Heard ${words}`), stt: new ScriptedStt({ utterances: ['Yes.'] }) },
    agent: { firstMessage: 'Shall I book the table for you, please?' },
  })
  t.teardown(hangUp)
  await port.until('most of it was said', () => port.loudFrames > 70)
  await say(speech('Yes.', RATE_HZ))
  await port.until('it is answered', () => port.said.at(-1)?.startsWith('assistant: Heard') === true)
  t.ok(port.said.includes('user: Yes.'))
})

test('a supervisor whispers, has the agent say something, takes the caller over and gives them back', async (t) => {
  const made = providers((words) => `To ${words}.`)
  const { port, conversation, hangUp } = await call({ providers: made })
  t.teardown(hangUp)
  const who = { id: 'u', name: 'Sue' }
  conversation.input({ type: 'whispered', who, text: 'Be brief.', seq: 0, at: 0 })
  conversation.input(typed('First', 1))
  await port.until('it is answered', () => port.said.at(-1) === 'assistant: To First.')
  t.match(JSON.stringify(made.llm.contexts.at(-1)!.toJSON()), /Be brief\./)
  conversation.input({ type: 'supervisor_said', who, text: 'This is a word of mine to you.', seq: 2, at: 0 })
  await port.until('it is being said', () => port.heardTurns.some(({ text }) => /word/.test(text)))
  conversation.input({ type: 'took_over', who, seq: 3, at: 0 })
  await port.until('the agent is cut off', () => port.turns.at(-1)?.turn.interrupted === true)
  conversation.input(typed('Second', 4))
  await port.until('it is written down', () => port.said.at(-1) === 'user: Second')
  const asked = made.llm.asked.length
  await sleep(300)
  t.equal(made.llm.asked.length, asked, 'nobody answers it')
  conversation.input({ type: 'gave_back', who, summary: 'They get a voucher.', seq: 5, at: 0 })
  await port.until('the agent goes on', () => port.said.at(-1) === 'assistant: To Second.')
  t.match(JSON.stringify(made.llm.contexts.at(-1)!.toJSON()), /Second.*voucher/)
  const taken = port.events.flatMap((event) => ('inputs' in event ? (event.inputs ?? []) : []))
  t.strictSame([...taken].sort(), [0, 1, 2, 3, 4, 5], 'each input is dealt with once')
  t.strictSame(port.endings, [])
})

test('two turns typed in a row are each a turn of its own, and the last is answered', async (t) => {
  const { port, conversation, hangUp } = await call({ providers: providers((words) => `You typed ${words}.`) })
  t.teardown(hangUp)
  conversation.input(typed('one', 4))
  conversation.input(typed('two', 5))
  await port.until('the answer', () => port.said.includes('assistant: You typed two.'))
  const turns = port.events.filter((event) => event.type === 'turn')
  t.match(turns, [
    { text: 'one', inputs: [4] },
    { text: 'two', inputs: [5] },
  ])
  t.ok(
    turns.every(({ start_ms, end_ms }) => start_ms === end_ms),
    'as typed',
  )
})

test('tools that were called before are known, one that runs still is waited for, and none is called again', async (t) => {
  const made = providers(() => 'It is shipped.')
  const { port, hangUp } = await call({
    providers: made,
    agent: { tools: [{ name: 'order_status', description: 'Where', parameters: { type: 'object' }, kind: 'http' }] },
    prepare: (port) => {
      port.runTool = () => '{"status":"shipped"}'
    },
    open: {
      elapsedMs: 10_000,
      resume: {
        ...resumeAfter([{ role: 'user', text: 'Where is it?', startMs: 0, endMs: 1_000, interrupted: false }]),
        greeting: 'done',
        tools: [
          { id: 'tool-1', name: 'order_status', arguments: { id: 'A1' }, result: 'known', turn: 1 },
          { id: 'tool-2', name: 'order_status', arguments: { id: 'A2' }, turn: 1 },
        ],
      },
    },
  })
  t.teardown(hangUp)
  await port.until('the answer', () => port.said.includes('assistant: It is shipped.'))
  t.strictSame(port.tools, [{ id: 'tool-2', name: 'order_status', arguments: { id: 'A2' } }])
  const items = made.llm.contexts[0]!.items.map((item) =>
    item.type === 'function_call_output' ? item.output : item.type,
  )
  t.strictSame(items.slice(-5), ['message', 'function_call', 'known', 'function_call', '{"status":"shipped"}'])
})

test('speech of which no words come is told, and the caller asked to say it again', async (t) => {
  const deaf = new ScriptedStt({ utterances: [] })
  const { port, say, hangUp } = await call({ providers: { ...providers(() => 'Nine.'), stt: deaf } })
  t.teardown(hangUp)
  await say(speech(QUESTION, RATE_HZ))
  await port.until('the caller is asked', () => port.said.some((one) => one.includes("didn't catch that")))
  t.ok(port.events.some((event) => event.type === 'not_understood' && event.reason === 'no_words'))
})

test('a question that a worker before had begun to hear is given again at once, and answered once', async (t) => {
  const { port, conversation, hangUp } = await call({
    providers: providers(() => 'Nine.'),
    open: {
      elapsedMs: 10_000,
      resume: {
        ...resumeAfter([{ role: 'assistant', text: 'Hello.', startMs: 0, endMs: 1_000, interrupted: false }]),
        greeting: 'done',
      },
    },
    startsAhead: true,
  })
  t.teardown(hangUp)
  const question = speech(QUESTION, RATE_HZ)
  const before = 6 * RATE_HZ
  const all = new Int16Array(before + question.length)
  all.set(question, before)
  for (let at = 0; at < all.length; at += 320) conversation.audio(bytesOf(all.slice(at, at + 320)), at)
  await port.until('the answer', () => port.said.includes('assistant: Nine.'))
  await sleep(500)
  t.strictSame(port.said, [`user: ${QUESTION}`, 'assistant: Nine.'])
})

test('a question that was over before its worker was lost is answered at once, and has the times at which it was asked', async (t) => {
  const made = { ...providers(() => 'Nine.'), stt: new ScriptedStt({ utterances: [QUESTION], silenceMs: 400 }) }
  const line = Promise.withResolvers<void>()
  const { port, conversation, hangUp } = await call({
    providers: made,
    open: {
      elapsedMs: 20_000,
      resume: {
        ...resumeAfter([{ role: 'assistant', text: 'Hello.', startMs: 0, endMs: 1_000, interrupted: false }]),
        greeting: 'done',
        heard: { timestamp: AHEAD - 320, ms: 20_000 },
      },
    },
    startsAhead: true,
    lineFrom: line.promise,
  })
  t.teardown(hangUp)
  // A busy machine: until the audio comes, silence stands in for it.
  await sleep(400)
  const all = lineNoise(8 * RATE_HZ)
  const question = speech(QUESTION, RATE_HZ)
  all.set(question, 2 * RATE_HZ)
  const passedMs = ownTime(t)
  for (let at = 0; at < all.length; at += 320) {
    conversation.audio(bytesOf(all.slice(at, at + 320)), AHEAD - all.length + at)
  }
  conversation.input(typed('And on Sunday?', 9))
  line.resolve()
  await port.until('the answer', () => port.said.includes('assistant: Nine.'))
  const afterMs = passedMs()
  await port.until('both are turns', () => port.turns.filter(({ turn }) => turn.role === 'user').length === 2)
  await sleep(6_000)
  t.strictSame(
    port.said.filter((one) => one.startsWith('user')).sort(),
    ['user: And on Sunday?', `user: ${QUESTION}`],
    'what was spoken and what was typed is a turn each, once',
  )
  t.notOk(
    port.events.some(({ type }) => type === 'not_understood'),
    'nobody is asked to say it again',
  )
  const { startMs, endMs } = port.turns.find(({ turn }) => turn.text === QUESTION)!.turn
  const spokenFromMs = 14_000
  t.ok(Math.abs(startMs - spokenFromMs) < 500, `it began at ${startMs}`)
  t.ok(Math.abs(endMs - spokenFromMs - question.length / 16) < 500, `it ended at ${endMs}`)
  t.ok(afterMs < 6_000, `answered ${afterMs} ms later`)
})

test('a recogniser that is not ready yet neither hangs nor is nobody understood: the question is answered when it is', async (t) => {
  const ready = Promise.withResolvers<void>()
  const stt = new ScriptedStt({ utterances: [QUESTION], ready: ready.promise })
  const { port, say, hangUp } = await call({ providers: { ...providers(() => 'Nine.'), stt } })
  t.teardown(hangUp)
  await say(speech(QUESTION, RATE_HZ))
  await sleep(6_000)
  t.strictSame(
    port.events.filter(({ type }) => type === 'not_understood' || type === 'fault'),
    [],
  )
  ready.resolve()
  await port.until('the answer', () => port.said.at(-1)?.endsWith('Nine.') === true)
  t.equal(stt.streams, 1)
  t.strictSame(
    port.said.filter((one) => one.startsWith('user')),
    [`user: ${QUESTION}`],
  )
})

test('sound of the caller that never came, or came too late, is counted', async (t) => {
  const { lost, conversation, hangUp } = await call({
    providers: providers(() => 'Nine.'),
    lineFrom: new Promise(() => undefined),
  })
  const packet = bytesOf(lineNoise(320))
  conversation.audio(packet, 0)
  conversation.audio(packet, 3 * 320)
  await sleep(200)
  conversation.audio(packet, 320)
  await hangUp()
  t.strictSame(lost, [
    { where: 'line', ms: 40 },
    { where: 'late', ms: 20 },
  ])
})

test('words that stay half known are asked for again, from another recogniser and then from the caller', async (t) => {
  const stt = new ScriptedStt({ utterances: [QUESTION], staysInterim: true })
  const { port, say, hangUp } = await call({ providers: { ...providers(() => 'Nine.'), stt } })
  t.teardown(hangUp)
  await say(speech(QUESTION, RATE_HZ))
  await port.until('the caller is asked', () => port.said.some((one) => one.includes('catch that')))
  t.equal(stt.streams, 2)
  t.match(
    port.events.find(({ type }) => type === 'not_understood'),
    { reason: 'no_words' },
  )
})

test('what a caller said is told by the timestamps of its sound, however late its packets come', async (t) => {
  const { port, conversation, hangUp } = await call({
    providers: providers(() => 'From nine to five.'),
    lineFrom: new Promise(() => {}),
  })
  t.teardown(hangUp)
  const [quiet, question] = [lineNoise(RATE_HZ), speech(QUESTION, RATE_HZ)]
  const sound = new Int16Array(4 * quiet.length + question.length)
  sound.set(quiet)
  sound.set(question, quiet.length)
  for (let second = 1; second < 4; second++) sound.set(quiet, second * quiet.length + question.length)
  const frame = RATE_HZ / 50
  // A machine that is busy for a fifth of a second, again and again: ten packets come at once.
  for (let at = 0; at < sound.length; at += frame) {
    conversation.audio(bytesOf(sound.slice(at, at + frame)), AHEAD + at)
    if ((at / frame) % 10 === 9) await sleep(200)
  }
  await port.until('it is a turn', () => port.said.includes(`user: ${QUESTION}`))
  const told = port.sounds[port.events.findIndex(({ type }) => type === 'turn')]
  const begins = AHEAD + firstLoud(sound, 200)
  const ends = AHEAD + lastLoud(sound, 200)
  t.ok(Math.abs((told?.from ?? 0) - begins) < RATE_HZ / 100, `it begins at ${told?.from}, as ${begins}`)
  t.ok(Math.abs((told?.to ?? 0) - ends) < RATE_HZ / 100, `it ends at ${told?.to}, as ${ends}`)
})
