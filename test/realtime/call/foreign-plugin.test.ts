import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { dialAgent, finishedLog, makeAgent } from '../../../scripts/demo/call.ts'
import type { Caller } from '../../../scripts/demo/caller.ts'
import { Conversation } from '../../../scripts/demo/conversation.ts'
import { installPlugin } from '../../support/instance/install-plugin.ts'
import { type Instance, startInstance, voiceWorkersOf } from '../../support/instance/instance.ts'
import { testFolder } from '../../support/instance/services.ts'
import { speechEngine } from '../../support/phone/speech-engine.ts'
import { putModels } from '../../support/providers/local-models.ts'

/** Runs alone: where the caller's own clock stalls in the middle of a sentence, what was said until then is a turn. */

const LIMIT_MS = 300_000
/** How much later than without the death of a process the caller hears an answer, or the rest of one. */
const FALLBACK_MS = 2_000
const silent = () => {}
const limit = () => AbortSignal.timeout(LIMIT_MS)
let instance: Instance
const engine = await speechEngine()

/** A voice as slow as a real one: nothing of what it will say is there before it is said. */
const SLOW_VOICE = `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({ tts: () => ({ sampleRateHz: 16000, async *speak(text) {
  for (const _ of text) {
    yield Int16Array.from({ length: 960 }, (_, n) => 8000 * Math.sin(2 * Math.PI * 500 * n / 16000))
    await new Promise((resolve) => setTimeout(resolve, 60))
  }
} }) })
`

/** Ears that say nothing of what they hear. */
const SILENT_EARS = `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({ stt: () => ({ sampleRateHz: 16000, async *recognise(audio) { for await (const _ of audio); } }) })
`

t.before(async () => {
  const dataDir = join(await testFolder(t), 'data')
  const parrot = { folder: join(import.meta.dirname, '../../../examples/plugins/parrot') }
  await installPlugin(dataDir, 'parrot', parrot, { env: ['PARROT_URL'] })
  await installPlugin(dataDir, 'silent', { provides: { stt: { models: ['m'] } }, mod: SILENT_EARS })
  await installPlugin(dataDir, 'slow', { provides: { tts: { voices: ['hum'] } }, mod: SLOW_VOICE })
  engine.put(dataDir)
  putModels(dataDir, ['zipformer-en', 'piper-en-alba'])
  instance = await startInstance(t, { PATCHBAY_DATA_DIR: dataDir, PATCHBAY_VOICE_WORKERS: '1' })
})

/** The processes in whose command line all of these are (Linux). */
async function processesWith(marks: readonly string[]): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return pids.filter((_, n) => marks.every((mark) => lines[n]?.includes(mark)))
}

async function end(marks: readonly string[], signal: NodeJS.Signals): Promise<void> {
  const pids = await processesWith(marks)
  if (pids.length === 0) throw new Error(`No process of ${marks.join(' and ')} runs`)
  for (const pid of pids) process.kill(pid, signal)
}

const kill = (plugin: string): Promise<void> =>
  end(['deno-main.ts', join(instance.dataDir, 'plugins', plugin)], 'SIGKILL')

/** What a fault of native code does to the processes of local speech. */
const fault = (): Promise<void> => end(['node-main.ts', join(instance.dataDir, 'models/local')], 'SIGSEGV')

const HEARERS = {
  agent_name: 'Ears of others',
  system_prompt: 'You say what you heard.',
  first_message: 'Hello there.',
}
const EARS = { LLM_provider: 'parrot', TTS_provider: 'sim', TTS_voice: 'tone' }

/**
 * Asks, lets `meanwhile` happen in the middle of the question; all that was heard of it in the call, and when the answer came. Where the
 * caller's clock stalls, the question is two turns, and the answer to the first may come before the second is heard.
 */
async function ask(agent: object, meanwhile?: () => Promise<void>): Promise<{ heard: string; latencyMs: number }> {
  const signal = limit()
  const { rest, agentId } = await makeAgent(instance.url, { ...HEARERS, ...EARS, ...agent })
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  let latencyMs: number
  try {
    const conversation = new Conversation(caller, silent, signal)
    await conversation.greeting()
    const asking = conversation.ask({ text: 'Could you please tell me where I can park my car today?', expects: '' })
    asking.catch(() => {})
    await sleep(1_500)
    await meanwhile?.()
    latencyMs = (await asking).latencyMs
    // What the ears had yet to say as the turn was taken is a turn of its own.
    await conversation.agentDone()
  } finally {
    await caller.hangUp(signal)
  }
  const { transcript } = await finishedLog(rest, callLogId, signal)
  const turns = transcript.filter(({ role }) => role === 'user')
  return { heard: turns.map(({ text }) => text).join(' '), latencyMs }
}

/** The words of the parrot are how long somebody spoke. */
const tenthsOf = (heard: string): number =>
  [...heard.matchAll(/heard (\d+) tenths/g)].reduce((sum, [, count]) => sum + Number(count), 0)

t.test('the ears’ process dies in the middle of a sentence: the next ones hear all of it', async (t) => {
  const alone = await ask({ STT_provider: 'parrot', STT_model: 'lengths' })
  const fallbacks = { STT: [{ provider: 'parrot', model: 'lengths' }] }
  const { heard, latencyMs } = await ask({ STT_provider: 'silent', fallbacks }, () => kill('silent'))
  // All of the sentence is more than two seconds.
  t.ok(tenthsOf(heard) >= 20, `${heard}: what was said before it died, too`)
  const answered = `answered ${latencyMs.toFixed(0)} ms after the last word, ${alone.latencyMs.toFixed(0)} ms without the death`
  t.ok(latencyMs < 2 * alone.latencyMs + FALLBACK_MS, answered)
})

/** Both voices take so long for each character. */
const MS_PER_CHARACTER = 60
const HELLO = 'Good morning and welcome to the Hotel Aurora. What may I do for you today?'

/** When the agent was to be heard, from and to. */
function soundsOf(caller: Caller): { fromMs: number; toMs: number }[] {
  const sounds: { fromMs: number; toMs: number }[] = []
  caller.on('agentStarts', (fromMs: number) => void sounds.push({ fromMs, toMs: fromMs }))
  caller.on('agentStops', (toMs: number) => {
    const last = sounds.at(-1)
    if (last !== undefined) last.toMs = toMs
  })
  return sounds
}

/** Is greeted, lets `meanwhile` happen a second into that; the longest silence in it, `Infinity` where the rest was never said. */
async function beGreeted(agent: object, meanwhile?: () => Promise<void>): Promise<{ silenceMs: number; log: object }> {
  const signal = limit()
  const { rest, agentId } = await makeAgent(instance.url, {
    agent_name: 'A voice of others',
    system_prompt: 'You follow a script.',
    first_message: HELLO,
    STT_provider: 'sim',
    LLM_provider: 'sim',
    ...agent,
  })
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  const sounds = soundsOf(caller)
  try {
    const conversation = new Conversation(caller, silent, signal)
    if (sounds.length === 0) await once(caller, 'agentStarts', { signal })
    await sleep(1_000)
    await meanwhile?.()
    await conversation.agentDone()
  } finally {
    await caller.hangUp(signal)
  }
  const gapsMs = sounds.slice(1).map(({ fromMs }, n) => fromMs - (sounds[n]?.toMs ?? fromMs))
  const isWhole = caller.audibleMs > 0.9 * HELLO.length * MS_PER_CHARACTER
  const silenceMs = isWhole ? Math.max(0, ...gapsMs) : Number.POSITIVE_INFINITY
  return { silenceMs, log: await finishedLog(rest, callLogId, signal) }
}

t.test('the voice’s process dies while it speaks: another says the rest', async (t) => {
  const alone = await beGreeted({ TTS_provider: 'slow', TTS_voice: 'hum' })
  t.ok(alone.silenceMs < Number.POSITIVE_INFINITY, 'it says all of it where nothing dies')
  const fallbacks = { TTS: [{ provider: 'sim', voice: 'tone' }] }
  const { silenceMs, log } = await beGreeted({ TTS_provider: 'slow', TTS_voice: 'hum', fallbacks }, () => kill('slow'))
  const silence = `silent for ${silenceMs.toFixed(0)} ms at the most, ${alone.silenceMs.toFixed(0)} ms without the death`
  t.ok(silenceMs < 2 * alone.silenceMs + FALLBACK_MS, silence)
  t.match(log, { transcript: [{ role: 'assistant', text: HELLO, interrupted: false }] })
})

const LOCAL = { STT_provider: 'local', STT_model: 'zipformer-en', TTS_provider: 'local', TTS_voice: 'piper-en-alba' }
/** The two words that the tiny model knows, of what was heard. */
const wordsOf = (heard: string): number => heard.match(/low|high/g)?.length ?? 0

t.test(
  'native code faults in mid-call: the worker and the call beside it go on, and so does its own',
  {
    skip: engine.skip,
  },
  async (t) => {
    const workers = await voiceWorkersOf(instance)
    t.equal(workers.length, 1)
    // On a machine that never ran them the models are read from the disk for longer than the sentence takes.
    await ask(LOCAL)
    const alone = await ask(LOCAL)
    t.ok(wordsOf(alone.heard) >= 4, alone.heard)
    const besideAlone = await ask({ STT_provider: 'parrot', STT_model: 'lengths' })

    const [again, beside] = await Promise.all([
      ask(LOCAL, fault),
      ask({ STT_provider: 'parrot', STT_model: 'lengths' }),
    ])
    // The tiny model finds words in the silence around the sentence, too, of which more or less is heard; half of it would be gone.
    const isWhole = wordsOf(again.heard) >= 0.75 * wordsOf(alone.heard)
    t.ok(isWhole, `heard ${again.heard}; without the fault ${alone.heard}`)
    const answered = `answered ${again.latencyMs.toFixed(0)} ms after the last word, ${alone.latencyMs.toFixed(0)} ms without the fault`
    t.ok(again.latencyMs < 2 * alone.latencyMs + FALLBACK_MS, answered)
    t.equal(
      tenthsOf(beside.heard) >= tenthsOf(besideAlone.heard) - 2,
      true,
      `${beside.heard}, alone ${besideAlone.heard}`,
    )

    const fallbacks = { STT: [{ provider: 'parrot', model: 'lengths' }], TTS: [{ provider: 'sim', voice: 'tone' }] }
    const { heard } = await ask({ ...LOCAL, fallbacks }, fault)
    t.ok(tenthsOf(heard) >= 20, `${heard}: another one hears all of it`)
    t.same(await voiceWorkersOf(instance), workers, 'nobody who holds conversations ended')
  },
)
