import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import type { Turn } from '../../../../runtime/call/log/resume.ts'
import { call, pacer, RATE_HZ } from './support/harness.ts'
import { type Reply, ScriptedLlm, ScriptedStt, TONE_MS_PER_CHARACTER, ToneTts } from './support/providers.ts'
import { resumeAfter } from './support/resume-after.ts'
import { cough, speech } from './support/speech.ts'

const QUESTION = 'What are your opening hours?'
const OTHER = 'I want to know something else.'
const HUM = 'mm hmm'
const LONG_ANSWER =
  'We are open from nine to five every day of the week, and on Saturdays we open an hour later than that.'

const providers = (reply: Reply = () => LONG_ANSWER) => ({
  stt: new ScriptedStt({ utterances: [QUESTION, OTHER, HUM] }),
  llm: new ScriptedLlm(reply),
  tts: new ToneTts(),
})

test('the agent speaks its first message, hears a question and answers it', async (t) => {
  const made = providers((words) => (words === QUESTION ? 'From nine to five.' : 'What?'))
  const { port, say, hangUp, turnsMeasured } = await call({ providers: made, agent: { firstMessage: 'Hello there.' } })
  t.teardown(hangUp)
  await port.until('the first message was said', () => port.turns.length === 1)
  const beforeMs = performance.now()
  await say(speech(QUESTION, RATE_HZ))
  await port.until('the answer was said', () => port.turns.length === 3)
  const tookMs = performance.now() - beforeMs

  t.strictSame(port.said, ['assistant: Hello there.', `user: ${QUESTION}`, 'assistant: From nine to five.'])
  t.strictSame(port.marks, [0, 1], 'each piece of speech ends with a mark')
  t.ok(port.words.some(({ turn, final }) => turn.role === 'user' && !final && turn.text === QUESTION))
  t.ok(port.words.some(({ turn, final }) => turn.role === 'user' && final && turn.text === QUESTION))
  t.same(port.states.slice(-3), ['thinking', 'speaking', 'listening'])

  const [, question, answer] = port.turns
  const spokenMs = speech(QUESTION, RATE_HZ).length / (RATE_HZ / 1000)
  const heardMs = question!.turn.endMs - question!.turn.startMs
  t.ok(Math.abs(heardMs - spokenMs) < 250, `the question lasts ${heardMs} ms of ${spokenMs} ms spoken`)
  const { totalMs, endpointingMs, llmMs, ttsMs } = answer!.latency!
  t.ok(Math.abs(totalMs - (endpointingMs + llmMs + ttsMs)) < 1, 'the stages add up')
  t.ok(totalMs > 100 && totalMs < tookMs - spokenMs, `an answer after ${totalMs} ms, said after ${tookMs} ms`)
  t.equal(turnsMeasured.length, 1)
})

test('the words decide how long a silence the caller is given', async (t) => {
  const waited = async (text: string): Promise<number> => {
    // A patient agent waits over two seconds longer: stalls make no such difference.
    const agent = { endpointing: 'patient' } as const
    const stt = new ScriptedStt({ utterances: [text] })
    const { port, say, hangUp } = await call({ providers: { ...providers(() => 'Nine.'), stt }, agent })
    await say(speech(text, RATE_HZ))
    await port.until('the answer was said', () => port.turns.length === 2)
    await hangUp()
    return port.turns[1]!.latency!.endpointingMs
  }
  const [sure, unsure] = await Promise.all([waited(QUESTION), waited('I would like to know whether')])
  t.ok(unsure! - sure! > 1_000, `${sure} ms after a question, ${unsure} ms after half a sentence`)
})

test('what the agent asked decides, too: a number is waited for to its end', async (t) => {
  const stt = new ScriptedStt({ utterances: ['7 4 4 1'] })
  const agent = { endpointing: 'patient', firstMessage: 'What is your phone number?' } as const
  const { port, say, hangUp } = await call({ providers: { ...providers(() => 'Go on.'), stt }, agent })
  t.teardown(hangUp)
  await port.until('it is asked', () => port.turns.length === 1)
  await say(speech('seven four four one', RATE_HZ))
  await port.until('the answer was said', () => port.turns.length === 3)
  const { endpointingMs } = port.turns[2]!.latency!
  t.ok(endpointingMs > 2_500, `${endpointingMs} ms`)
})

test('a recogniser that says when a turn is over is believed, whatever the words say', async (t) => {
  const unfinished = 'I would like to know whether'
  const stt = new ScriptedStt({ utterances: [unfinished], endsTurns: true })
  const agent = { endpointing: 'patient' } as const
  const { port, say, hangUp } = await call({ providers: { ...providers(() => 'Nine.'), stt }, agent })
  t.teardown(hangUp)
  await say(speech(unfinished, RATE_HZ))
  await port.until('the answer was said', () => port.turns.length === 2)
  const { endpointingMs } = port.turns[1]!.latency!
  t.ok(endpointingMs < 1_500, `${endpointingMs} ms, where the words would have had the caller wait for 3 s`)
})

test('a caller who speaks over the agent is listened to, and the turn keeps only the words played', async (t) => {
  const { port, say, hangUp } = await call({
    providers: providers((words) => (words === OTHER ? 'Go ahead.' : LONG_ANSWER)),
    agent: { firstMessage: LONG_ANSWER },
  })
  t.teardown(hangUp)
  await port.until('the agent has spoken a while', () => port.loudFrames > 75)
  await say(speech(OTHER, RATE_HZ))
  await port.until('the other question is answered', () => port.said.includes('assistant: Go ahead.'))

  const [cut, asked, answer] = port.turns
  t.ok(port.clears >= 1, 'what the client holds is dropped')
  t.ok(cut!.turn.interrupted)
  t.ok(LONG_ANSWER.startsWith(cut!.turn.text), cut!.turn.text)
  const playedMs = cut!.turn.endMs - cut!.turn.startMs
  const saidMs = cut!.turn.text.length * TONE_MS_PER_CHARACTER
  t.ok(Math.abs(playedMs - saidMs) < 700, `${playedMs} ms were played, the words kept last ${saidMs} ms`)
  t.equal(asked!.turn.text, OTHER)
  t.notOk(answer!.turn.interrupted)
})

test('what the caller has heard is reported while the agent speaks', async (t) => {
  const { port, hangUp } = await call({ providers: providers(), agent: { firstMessage: LONG_ANSWER } })
  t.teardown(hangUp)
  await port.until('three reports', () => port.heardTurns.length >= 3)
  const lengths = port.heardTurns.map(({ text }) => text.length)
  t.strictSame(
    lengths,
    [...lengths].sort((a, b) => a - b),
  )
  t.ok(port.heardTurns.every(({ text, interrupted }) => !interrupted && LONG_ANSWER.startsWith(text)))
})

test('a hum and a cough do not cut the agent off', async (t) => {
  const { port, say, hangUp } = await call({ providers: providers(), agent: { firstMessage: LONG_ANSWER } })
  t.teardown(hangUp)
  await port.until('the agent has spoken a while', () => port.loudFrames > 40)
  await say(speech(HUM, RATE_HZ))
  await sleep(600)
  await say(cough(RATE_HZ))
  await port.until('the agent has finished', () => port.turns.length > 0)
  t.strictSame(port.said, [`assistant: ${LONG_ANSWER}`])
})

test('a typed turn interrupts and is answered', async (t) => {
  const made = providers((words) => `You typed ${words}.`)
  const { port, type, hangUp } = await call({ providers: made, agent: { firstMessage: LONG_ANSWER } })
  t.teardown(hangUp)
  await port.until('the agent speaks', () => port.loudFrames > 50)
  type('hello')
  await port.until('the answer was said', () => port.said.includes('assistant: You typed hello.'))
  t.match(port.said[0], /^assistant: We are .*!$/)
  t.equal(port.said[1], 'user: hello')
})

test('keys pressed reach the agent as one entry', async (t) => {
  const made = providers((words) => (words.includes('1 2 #') ? 'Thank you.' : 'What?'))
  const { port, press, hangUp } = await call({ providers: made })
  t.teardown(hangUp)
  for (const digit of ['1', '2', '#']) press(digit)
  await port.until('the answer was said', () => port.turns.length === 2)
  t.strictSame(port.said, ['user: [The caller pressed 1 2 # on the keypad]', 'assistant: Thank you.'])
})

test('a silent caller is hung up on', async (t) => {
  const { port, hangUp } = await call({
    providers: providers(),
    open: { limits: { idleMs: 700, maxDurationMs: 60_000 } },
  })
  t.teardown(hangUp)
  await port.until('the session ended', () => port.endings.length > 0)
  t.strictSame(port.endings, [{ reason: 'idle', error: undefined }])
})

test('a call ends at its longest duration, counted from the answer', async (t) => {
  const { port, hangUp } = await call({
    providers: providers(),
    agent: { firstMessage: Array(4).fill(LONG_ANSWER).join(' ') },
    // Longer than the agent may finish, also where a busy machine needs a second or two for the first word.
    open: { limits: { idleMs: 60_000, maxDurationMs: 60_000 }, elapsedMs: 56_000 },
  })
  t.teardown(hangUp)
  await port.until('the session ended', () => port.endings.length > 0)
  t.strictSame(port.endings, [{ reason: 'max_duration', error: undefined }])
  t.ok(port.turns[0]?.turn.interrupted, 'what was heard until then is kept')
})

test('a language model that fails again when tried again is apologised for, and the call goes on', async (t) => {
  let failures = 0
  const made = providers(() => (failures++ < 2 ? new Error('overloaded') : 'Here I am.'))
  const { port, type, failures: counted, hangUp } = await call({ providers: made })
  t.teardown(hangUp)
  type('one')
  await port.until('the apology was said', () => port.said.some((said) => said.includes('say that again')))
  type('two')
  await port.until('the answer was said', () => port.said.includes('assistant: Here I am.'))
  t.ok(counted.includes('llm'))
  t.strictSame(port.endings, [])
})

test('a voice that fails for good ends the call with an error', async (t) => {
  const made = { ...providers(), tts: new ToneTts(() => new Error('no voice')) }
  const { port, hangUp } = await call({ providers: made, agent: { firstMessage: 'Hello.' } })
  t.teardown(hangUp)
  await port.until('the session ended', () => port.endings.length > 0)
  t.equal(port.endings[0]!.reason, 'error')
  t.match(port.endings[0]!.error, /tts/)
  t.strictSame(port.turns, [], 'nothing was heard, so nothing was said')
})

test('a recogniser that dies is opened again', async (t) => {
  let dead = false
  const stt = new ScriptedStt({
    utterances: [QUESTION],
    fail: () => {
      if (!dead) return undefined
      dead = false
      return new Error('connection reset')
    },
  })
  const { port, say, hangUp } = await call({ providers: { ...providers(() => 'Nine.'), stt } })
  t.teardown(hangUp)
  await sleep(200)
  dead = true
  await port.until('it has died', () => !dead)
  await port.until('it was opened again', () => stt.streams === 2)
  await say(speech(QUESTION, RATE_HZ))
  await port.until('the answer was said', () => port.turns.length === 2)
  t.equal(stt.streams, 2)
  t.strictSame(port.said, [`user: ${QUESTION}`, 'assistant: Nine.'])
})

const turn = (role: Turn['role'], text: string, interrupted = false): Turn => {
  return { role, text, startMs: 0, endMs: 1000, interrupted }
}

test('a taken-over call goes on: no first message, an open question is answered at once', async (t) => {
  const made = providers((words) => `Again: ${words}`)
  const history = [turn('assistant', 'Hello.'), turn('user', 'Are you open?')]
  const { port, hangUp } = await call({
    providers: made,
    agent: { firstMessage: 'Hello.' },
    open: { resume: resumeAfter(history), elapsedMs: 30_000 },
  })
  t.teardown(hangUp)
  await port.until('the answer was said', () => port.turns.length === 1)
  t.strictSame(port.said, ['assistant: Again: Are you open?'])
  t.ok(port.turns[0]!.turn.startMs >= 30_000)
  const context = made.llm.contexts[0]!.items.flatMap((item) => (item.type === 'message' ? [item.textContent] : []))
  t.strictSame(context.slice(-2), ['Hello.', 'Are you open?'])
})

test('a taken-over call whose agent was cut off goes on speaking, one that listened waits', async (t) => {
  const cut = await call({
    providers: providers(() => 'five every day.'),
    open: { resume: resumeAfter([turn('user', QUESTION), turn('assistant', 'From nine to', true)]) },
  })
  t.teardown(cut.hangUp)
  const waits = await call({
    providers: providers(),
    agent: { firstMessage: 'Hello.' },
    open: { resume: resumeAfter([turn('assistant', 'Hello.')]) },
  })
  t.teardown(waits.hangUp)
  await cut.port.until('the agent went on', () => cut.port.turns.length === 1)
  t.strictSame(cut.port.said, ['assistant: five every day.'])
  t.strictSame(waits.port.said, [])
})

test('passages are looked up with the first words and reach the language model, not the record', async (t) => {
  const made = providers(() => 'Nine.')
  const { port, say, hangUp } = await call({ providers: made, agent: { hasKnowledge: true } })
  t.teardown(hangUp)
  port.passages = [{ documentId: 'd', filename: 'hours.txt', text: 'Open nine to five.', score: 1 }]
  await say(speech(QUESTION, RATE_HZ))
  await port.until('the answer was said', () => port.turns.length === 2)
  t.strictSame(port.asked, [QUESTION], 'asked once, for interim and final words alike')
  const context = JSON.stringify(made.llm.contexts.at(-1)!.toJSON())
  t.match(context, /hours\.txt/)
  t.strictSame(port.said, [`user: ${QUESTION}`, 'assistant: Nine.'])
})

test('what a conversation used is reported with every turn and at its end', async (t) => {
  const { port, type, hangUp } = await call({ providers: providers(() => 'Fine.') })
  type('How are you?')
  await port.until('the answer was said', () => port.turns.length === 2)
  await port.until('its use was told', () => port.used.input_tokens > 0)
  const first = { ...port.used }
  t.equal(first.input_tokens, 10, 'told while the call goes on')
  await sleep(200)
  await hangUp()
  t.match(port.used, { input_tokens: 10, output_tokens: 1, characters: 'Fine.'.length })
  t.ok(port.used.seconds > first.seconds, 'the last moments count')
  t.equal(port.latencies.length, 1, 'a typed turn is measured too')
})

test('an answer that another worker owes is measured from the words of the caller', async (t) => {
  const { port, hangUp } = await call({
    providers: providers(() => 'From nine.'),
    open: { elapsedMs: 9_000, resume: resumeAfter([{ ...turn('user', QUESTION), startMs: 1_000, endMs: 4_000 }]) },
  })
  t.teardown(hangUp)
  await port.until('it was answered', () => port.turns.length === 1)
  t.equal(port.latencies.length, 1)
  t.ok(port.latencies[0]!.totalMs > 5_000, `after ${port.latencies[0]!.totalMs} ms`)
})

test('closing releases everything, fifty times over', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  const listenersBefore = pacer.listeners
  const timersBefore = timers()
  const once = async () => {
    const { port, hangUp } = await call({ providers: providers(), agent: { firstMessage: 'Hello.' } })
    await port.until('the agent speaks', () => port.audioAtMs.length > 0)
    await hangUp()
    await hangUp()
  }
  for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 10 }, once))
  t.equal(pacer.listeners, listenersBefore)
  // The library's own waits for cancelled tasks run out by themselves, 5 s at the longest.
  for (let waits = 0; waits < 600 && timers() > timersBefore; waits++) await sleep(100)
  t.ok(timers() <= timersBefore, `${timers()} timers, ${timersBefore} before`)
})
