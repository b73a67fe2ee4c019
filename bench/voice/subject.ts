/** One side of the comparison, in a process of its own: `subject.ts <ours|stock> <scenario as JSON>`. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Guardrails } from '../../runtime/call/types/guardrails.ts'
import type { AudioFormat } from '../../runtime/call/types/leg.ts'
import { loadModels } from '../../runtime/conversation/providers/models.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { codecFor } from '../../runtime/media/codecs/codec.ts'
import { Pacer } from '../../runtime/media/line/pacer.ts'
import { Caller } from './caller.ts'
import { openConversation, type Subject } from './open-conversation.ts'
import { type BenchProviders, type Latencies, socketProviders } from './providers-client.ts'
import type { Result, Scenario } from './scenario.ts'
import { openStock } from './stock.ts'
import { COUGH, HUM, lineOf, NOISE, OTHER, PAUSED, QUESTIONS } from './utterances.ts'

const [side, json = '{}'] = process.argv.slice(2) as ['ours' | 'stock', string]
const scenario = JSON.parse(json) as Scenario
const format: AudioFormat =
  scenario.kind === 'cpu' ? { encoding: 'pcmu', sampleRateHz: 8000 } : { encoding: 'pcm_s16le', sampleRateHz: 16_000 }
const { encode, decode } = codecFor(format)
const pacer = new Pacer(systemClock, (error) => process.stderr.write(`${String(error)}\n`))
const models = await loadModels('silent')
const fixedMs = scenario.kind === 'latency' ? scenario.fixedEndpointingMs : undefined
/** Of every kind that lets an answer's first words go at once. */
const GUARDRAILS: Guardrails = {
  never: ['guarantee', 'no risk'],
  grounded: ['money', 'date', 'url'],
  maxSentences: 3,
  language: true,
}
const LONG =
  'We are open from nine to five every day of the week, and on Saturdays we open an hour later than on other days.'
const REPLY_TIMEOUT_MS = 8000
/** An agent that does not go on by then was cut off. */
const RESUME_TIMEOUT_MS = 4000
/** In the measured conversations a question comes this often, however soon it is answered: who is quick has no more to do. */
const QUESTION_EVERY_MS = 6500

function providers(latencies: Latencies, script: readonly string[]): BenchProviders {
  return socketProviders({
    port: scenario.port,
    ...latencies,
    script: script.map((text) => ({ text, durationMs: lineOf(text, 16_000).length / 16 })),
  })
}

async function open(latencies: Latencies, script: readonly string[], firstMessage = ''): Promise<Subject> {
  const { sampleRateHz } = format
  if (side === 'stock') {
    let send: (samples: Int16Array) => void = () => {}
    // The peer has no codec: it gets what a gateway would decode for it.
    const caller = new Caller(sampleRateHz, pacer, (samples) => send(decode(encode(samples))))
    const peer = await openStock(providers(latencies, script), sampleRateHz, pacer, firstMessage, (samples) =>
      caller.hear(decode(encode(samples))),
    )
    send = peer.send
    return {
      caller,
      close: () => {
        caller.hangUp()
        return peer.close()
      },
    }
  }
  const made = providers(latencies, script)
  return openConversation({
    create: async (kind) => made[kind],
    names: { stt: 'x', llm: 'x', tts: 'x' },
    ...{ models, pacer, format, firstMessage },
    endpointingMs: fixedMs,
    guardrails: scenario.kind === 'latency' && scenario.guarded === true ? GUARDRAILS : undefined,
  })
}

async function until(test: () => boolean, timeoutMs: number): Promise<boolean> {
  for (let waited = 0; waited < timeoutMs; waited += 5) {
    if (test()) return true
    await sleep(5)
  }
  return false
}

/** Each caller begins with another question. */
const questionsFrom = (index: number) => QUESTIONS.map((_, i) => QUESTIONS[(index + i) % QUESTIONS.length]!)

const quiet = (caller: Caller) => until(() => performance.now() - caller.lastSoundMs > 400, 20_000)

/** Milliseconds from the end of the caller's speech to the first sound of the answer. */
async function ask(caller: Caller, speech: Int16Array): Promise<number | undefined> {
  await caller.say(speech)
  caller.listen()
  const answered = await until(() => caller.firstSoundMs !== undefined, REPLY_TIMEOUT_MS)
  return answered ? caller.firstSoundMs! - caller.speechEndMs : undefined
}

async function latency(kind: Extract<Scenario, { kind: 'latency' }>): Promise<Result> {
  const turnsMs: number[] = []
  const firstTurnsMs: number[] = []
  let unanswered = 0
  await Promise.all(
    Array.from({ length: kind.sessions }, async (_, index) => {
      await sleep(index * 137)
      const script = questionsFrom(index)
      const { caller, close } = await open(kind.latencies, script)
      await sleep(500)
      for (let turn = 0; turn < kind.turns; turn++) {
        const waitedMs = await ask(caller, lineOf(script[turn % script.length]!, format.sampleRateHz))
        if (waitedMs === undefined) unanswered++
        else (turn === 0 ? firstTurnsMs : turnsMs).push(waitedMs)
        await sleep(600)
        await quiet(caller)
      }
      await close()
    }),
  )
  return { kind: 'latency', turnsMs, firstTurnsMs, unanswered }
}

async function pauses(kind: Extract<Scenario, { kind: 'pauses' }>): Promise<Result> {
  let cutOff = 0
  let total = 0
  await Promise.all(
    PAUSED.map(async ({ parts, pauseMs }, index) => {
      await sleep(index * 173)
      const { caller, close } = await open(kind.latencies, parts)
      await sleep(400)
      for (let round = 0; round < kind.rounds; round++) {
        caller.listen()
        await caller.say(lineOf(parts[0], format.sampleRateHz))
        await sleep(pauseMs)
        total++
        if (caller.firstSoundMs !== undefined) cutOff++
        await caller.say(lineOf(parts[1], format.sampleRateHz))
        await sleep(800)
        await quiet(caller)
        await sleep(400)
      }
      await close()
    }),
  )
  return { kind: 'pauses', cutOff, total }
}

/** Speaks over the agent; how long it went on after the first sound, or that it did not stop. */
async function bargeIn(kind: Extract<Scenario, { kind: 'barge' }>): Promise<Result> {
  const stoppedMs: number[] = []
  let missed = 0
  const gapsMs: number[] = []
  const over = async (sound: Int16Array): Promise<{ ms: number; stopped: boolean; gapMs: number }> => {
    const { caller, close } = await open(kind.latencies, [OTHER], LONG)
    await until(() => caller.firstSoundMs !== undefined, 5000)
    // The peer ignores the caller during the first three seconds of the agent's speech (its echo-canceller warm-up).
    await sleep(3300)
    await caller.say(sound)
    const onsetMs = caller.speechStartMs
    const stopped = await until(() => performance.now() - caller.lastSoundMs > 150, 700)
    const lastMs = caller.lastSoundMs
    await until(() => caller.lastSoundMs > lastMs, RESUME_TIMEOUT_MS)
    const gapMs = stopped ? (caller.lastSoundMs > lastMs ? caller.lastSoundMs - lastMs : RESUME_TIMEOUT_MS) : 0
    await close()
    return { ms: lastMs - onsetMs, stopped, gapMs }
  }
  for (let round = 0; round < kind.rounds; round++) {
    const [words, hum, cough, noise] = await Promise.all(
      [
        lineOf(OTHER, format.sampleRateHz),
        lineOf(HUM, format.sampleRateHz),
        COUGH(format.sampleRateHz),
        NOISE(format.sampleRateHz),
      ].map((sound, i) => sleep(i * 97).then(() => over(sound))),
    )
    if (words!.stopped) stoppedMs.push(words!.ms)
    else missed++
    gapsMs.push(hum!.gapMs, cough!.gapMs, noise!.gapMs)
  }
  return { kind: 'barge', stoppedMs, missed, gapsMs }
}

async function cpu(kind: Extract<Scenario, { kind: 'cpu' }>): Promise<Result> {
  const subjects: Subject[] = []
  for (let i = 0; i < kind.sessions; i++) {
    subjects.push(await open(kind.latencies, questionsFrom(i)))
    await sleep(20)
  }
  let talking = true
  let answers = 0
  const talk = subjects.map(async ({ caller }, index) => {
    await sleep((index * QUESTION_EVERY_MS) / subjects.length)
    for (let turn = 0; talking; turn++) {
      const next = sleep(QUESTION_EVERY_MS)
      const waitedMs = await ask(caller, lineOf(questionsFrom(index)[turn % QUESTIONS.length]!, format.sampleRateHz))
      if (waitedMs !== undefined) answers++
      await quiet(caller)
      await next
    }
  })
  // Until the last one speaks, too.
  await sleep(QUESTION_EVERY_MS)
  global.gc?.()
  const rssBytes = process.memoryUsage.rss()
  const before = process.cpuUsage()
  const startedMs = performance.now()
  answers = 0
  for (const { caller } of subjects) caller.gapsMs.length = 0
  await sleep(kind.seconds * 1000)
  const used = process.cpuUsage(before)
  const wallMs = performance.now() - startedMs
  const answersAMinute = (answers * 60_000) / wallMs / kind.sessions
  const cadenceMs = subjects.flatMap(({ caller }) => caller.gapsMs.map((gap) => Math.abs(gap - 20)))
  talking = false
  await Promise.all(talk)
  await Promise.all(subjects.map((subject) => subject.close()))
  const coreShare = (used.user + used.system) / 1000 / wallMs / kind.sessions
  return { kind: 'cpu', coreShare, answersAMinute, cadenceMs, rssBytes }
}

async function memory(kind: Extract<Scenario, { kind: 'memory' }>): Promise<Result> {
  const heapBytes: number[] = []
  const batch = () =>
    Promise.all(
      Array.from({ length: kind.atOnce }, async () => {
        const { caller, close } = await open(kind.latencies, QUESTIONS, 'Hello there.')
        await until(() => caller.firstSoundMs !== undefined, 5000)
        await close()
      }),
    )
  const settle = async () => {
    // The library's waits for cancelled tasks hold on to their calls for 5 s at the longest.
    await sleep(5500)
    global.gc?.()
    heapBytes.push(process.memoryUsage().heapUsed)
  }
  for (let done = 0; done < kind.calls; done += kind.atOnce) {
    if (done === kind.warmUp) await settle()
    await batch()
  }
  await settle()
  return { kind: 'memory', heapBytes }
}

const result = await (scenario.kind === 'latency'
  ? latency(scenario)
  : scenario.kind === 'pauses'
    ? pauses(scenario)
    : scenario.kind === 'barge'
      ? bargeIn(scenario)
      : scenario.kind === 'cpu'
        ? cpu(scenario)
        : memory(scenario))
process.send?.(result, () => process.exit())
