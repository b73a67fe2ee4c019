/** One run of the benchmark, in a process of its own: `subject.ts <run as JSON>`. */
import { setTimeout as sleep } from 'node:timers/promises'
import { initializeLogger, llm } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { pino } from 'pino'
import type { AudioFormat } from '../../runtime/call/types/leg.ts'
import { loadModels } from '../../runtime/conversation/providers/models.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { Pacer } from '../../runtime/media/line/pacer.ts'
import { loadPlugins, type PluginRegistry } from '../../runtime/plugin/host.ts'
import { processorSeconds } from '../support/processor-seconds.ts'
import { openConversation, type Subject } from '../voice/open-conversation.ts'
import { lineOf, QUESTIONS } from '../voice/utterances.ts'
import { foreignPlugins } from './foreign.ts'
import type { PluginRun, PluginRunResult } from './scenario.ts'

initializeLogger({ pretty: false, level: 'silent' })
const run = JSON.parse(process.argv[2] ?? '{}') as PluginRun
const stop = new AbortController()
const silent = pino({ level: 'silent' })
const format: AudioFormat = { encoding: 'pcmu', sampleRateHz: 8_000 }
const pacer = new Pacer(systemClock, (error) => process.stderr.write(`${String(error)}\n`))
const RATE_HZ = 16_000
const FRAME = RATE_HZ / 50

function own(): Promise<PluginRegistry> {
  const grants = { allowRun: ['sim:espeak-ng', 'offline:espeak-ng'] }
  return loadPlugins({ config: grants, env: process.env, log: silent, signal: stop.signal })
}

async function latency({
  isolation,
  sessions,
  seconds,
}: Extract<PluginRun, { kind: 'latency' }>): Promise<PluginRunResult> {
  const { registry, remove } = await foreignPlugins(isolation, stop.signal)
  const hearMs: number[] = []
  const speakMs: number[] = []
  await (await registry.create('tts', 'echo')).close()
  const untilMs = performance.now() + seconds * 1_000
  await Promise.all(
    Array.from({ length: sessions }, async (_, index) => {
      await sleep(index * 7)
      const ears = (await registry.create('stt', 'echo')).stream()
      const voice = await registry.create('tts', 'echo')
      const pushedAtMs: number[] = []
      const hearing = (async () => {
        for await (const { alternatives } of ears) {
          const count = Number(alternatives?.[0]?.text)
          const atMs = pushedAtMs[count - 1]
          // The first second is the start's.
          if (atMs !== undefined && count > 50) hearMs.push(performance.now() - atMs)
        }
      })()
      const speaking = (async () => {
        while (performance.now() < untilMs) {
          await sleep(400)
          const atMs = performance.now()
          let first = true
          for await (const _ of voice.synthesize('One.')) {
            if (first && pushedAtMs.length > 50) speakMs.push(performance.now() - atMs)
            first = false
          }
        }
      })()
      let due = performance.now()
      while (performance.now() < untilMs) {
        pushedAtMs.push(performance.now())
        ears.pushFrame(new AudioFrame(new Int16Array(FRAME), RATE_HZ, 1, FRAME))
        due += 20
        await sleep(Math.max(0, due - performance.now()))
      }
      ears.endInput()
      await Promise.all([hearing, speaking])
    }),
  )
  remove()
  return { kind: 'latency', hearMs, speakMs }
}

type Kind = 'stt' | 'llm' | 'tts'

const models = run.kind === 'latency' ? undefined : await loadModels('silent')

function open(registry: PluginRegistry, names: Record<Kind, string>): Promise<Subject> {
  if (models === undefined) throw new Error('This run has no conversations')
  return openConversation({
    create: (kind, name) => registry.create(kind, name),
    firstMessage: 'Hello there.',
    ...{ names, models, pacer, format },
  })
}

/** Callers who ask one question after the other until they are told to stop. */
async function talk(
  registry: PluginRegistry,
  provider: Record<Kind, string>,
  sessions: number,
): Promise<{ subjects: Subject[]; stop(): Promise<void> }> {
  const subjects: Subject[] = []
  for (let n = 0; n < sessions; n++) {
    subjects.push(await open(registry, provider))
    await sleep(20)
  }
  let isTalking = true
  const talking = subjects.map(async ({ caller }, index) => {
    await sleep(index * 211)
    for (let turn = index; isTalking; turn++) {
      await caller.say(lineOf(QUESTIONS[turn % QUESTIONS.length] ?? '', format.sampleRateHz))
      for (let waited = 0; waited < 6_000 && isTalking; waited += 200) {
        await sleep(200)
        if (waited > 1_500 && performance.now() - caller.lastSoundMs > 400) break
      }
    }
  })
  await sleep(5_000)
  return {
    subjects,
    async stop() {
      isTalking = false
      await Promise.all(talking)
      await Promise.all(subjects.map((subject) => subject.close()))
    },
  }
}

/** Of the processor, by this process and all that it started. */
const usedSeconds = (): number => processorSeconds(() => 'all').get('all') ?? 0

async function cpu({ isolation, sessions, seconds }: Extract<PluginRun, { kind: 'cpu' }>): Promise<PluginRunResult> {
  const { registry, remove } = await foreignPlugins(isolation, stop.signal)
  const { stop: end } = await talk(registry, { stt: 'parrot', llm: 'sim', tts: 'parrot' }, sessions)
  const [before, startedMs] = [usedSeconds(), performance.now()]
  await sleep(seconds * 1_000)
  const usedMs = (usedSeconds() - before) * 1_000
  const wallMs = performance.now() - startedMs
  await end()
  remove()
  return { kind: 'cpu', coreShare: usedMs / wallMs / sessions }
}

async function cadence({
  hostile,
  sessions,
  seconds,
}: Extract<PluginRun, { kind: 'cadence' }>): Promise<PluginRunResult> {
  const foreign = await foreignPlugins('process', stop.signal)
  const { subjects, stop: end } = await talk(await own(), { stt: 'sim', llm: 'sim', tts: 'sim' }, sessions)
  let isOver = false
  const misbehaving =
    hostile === undefined
      ? undefined
      : (async () => {
          const model = await foreign.registry.create('llm', 'hostile')
          model.on('error', () => {})
          while (!isOver) {
            const chatCtx = llm.ChatContext.empty()
            chatCtx.addMessage({ role: 'user', content: hostile })
            const stream = model.chat({ chatCtx, connOptions: { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 60_000 } })
            for await (const _ of stream);
            await sleep(100)
          }
        })()
  misbehaving?.catch((error: unknown) => process.stderr.write(`${String(error)}\n`))
  await sleep(500)
  for (const { caller } of subjects) caller.gapsMs.length = 0
  await sleep(seconds * 1_000)
  const cadenceMs = subjects.flatMap(({ caller }) => caller.gapsMs.map((gap) => Math.abs(gap - 20)))
  isOver = true
  await end()
  foreign.remove()
  return { kind: 'cadence', cadenceMs, ended: foreign.ended() }
}

const result = await (run.kind === 'latency' ? latency(run) : run.kind === 'cpu' ? cpu(run) : cadence(run))
process.send?.(result, () => {
  stop.abort()
  process.exit(0)
})
