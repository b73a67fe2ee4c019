import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { dialAgent, finishedLog, makeAgent } from '../../scripts/demo/call.ts'
import type { Caller } from '../../scripts/demo/caller.ts'
import { Conversation } from '../../scripts/demo/conversation.ts'
import { installPlugin } from '../support/install-plugin.ts'
import { type Instance, startInstance } from '../support/instance.ts'
import { testFolder } from '../support/services.ts'

const LIMIT_MS = 120_000
/** How much later than without the death of a process the caller hears an answer, or the rest of one. */
const FALLBACK_MS = 2_000
const silent = () => {}
const limit = () => AbortSignal.timeout(LIMIT_MS)
let instance: Instance

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
  const parrot = { folder: join(import.meta.dirname, '../../examples/plugins/parrot') }
  await installPlugin(dataDir, 'parrot', parrot, { env: ['PARROT_URL'] })
  await installPlugin(dataDir, 'silent', { provides: { stt: { models: ['m'] } }, mod: SILENT_EARS })
  await installPlugin(dataDir, 'slow', { provides: { tts: { voices: ['hum'] } }, mod: SLOW_VOICE })
  instance = await startInstance(t, { PATCHBAY_DATA_DIR: dataDir })
})

/** The processes in which a plugin runs (Linux). */
async function processesOf(plugin: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  const marks = ['deno-main.ts', join(instance.dataDir, 'plugins', plugin)]
  return pids.filter((_, n) => marks.every((mark) => lines[n]?.includes(mark)))
}

async function kill(plugin: string): Promise<void> {
  const pids = await processesOf(plugin)
  if (pids.length === 0) throw new Error(`No process of plugin "${plugin}" runs`)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
}

const HEARERS = {
  agent_name: 'Ears of others',
  system_prompt: 'You say what you heard.',
  first_message: 'Hello there.',
}
const EARS = { LLM_provider: 'parrot', TTS_provider: 'sim', TTS_voice: 'tone' }

/** Asks, lets `meanwhile` happen in the middle of the question; what was heard of it, and when the answer came. */
async function ask(agent: object, meanwhile?: () => Promise<void>): Promise<{ heard: string; latencyMs: number }> {
  const signal = limit()
  const { rest, agentId } = await makeAgent(instance.url, { ...HEARERS, ...EARS, ...agent })
  const { caller } = await dialAgent(rest, agentId, signal)
  try {
    const conversation = new Conversation(caller, silent, signal)
    await conversation.greeting()
    const asking = conversation.ask({ text: 'Could you please tell me where I can park my car today?', expects: '' })
    asking.catch(() => {})
    await sleep(1_500)
    await meanwhile?.()
    return await asking
  } finally {
    await caller.hangUp(signal)
  }
}

t.test('the ears’ process dies in the middle of a sentence: the next ones hear all of it', async (t) => {
  const alone = await ask({ STT_provider: 'parrot', STT_model: 'lengths' })
  const fallbacks = { STT: [{ provider: 'parrot', model: 'lengths' }] }
  const { heard, latencyMs } = await ask({ STT_provider: 'silent', fallbacks }, () => kill('silent'))
  // Its words are how long somebody spoke: all of the sentence is more than two seconds.
  const tenths = [...heard.matchAll(/heard (\d+) tenths/g)].reduce((sum, [, count]) => sum + Number(count), 0)
  t.ok(tenths >= 20, `${heard}: what was said before it died, too`)
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
