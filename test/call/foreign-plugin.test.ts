import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { dialAgent, finishedLog, makeAgent } from '../../scripts/demo/call.ts'
import { Conversation } from '../../scripts/demo/conversation.ts'
import { installPlugin } from '../support/install-plugin.ts'
import { type Instance, startInstance } from '../support/instance.ts'
import { testFolder } from '../support/services.ts'

const LIMIT_MS = 120_000
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

t.test('the ears’ process dies in the middle of a sentence: the next ones hear all of it', async (t) => {
  const signal = limit()
  const { rest, agentId } = await makeAgent(instance.url, {
    agent_name: 'Ears of others',
    system_prompt: 'You say what you heard.',
    first_message: 'Hello there.',
    STT_provider: 'silent',
    LLM_provider: 'parrot',
    TTS_provider: 'sim',
    TTS_voice: 'tone',
    fallbacks: { STT: [{ provider: 'parrot', model: 'lengths' }] },
  })
  const { caller } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const conversation = new Conversation(caller, silent, signal)
  await conversation.greeting()
  const asking = conversation.ask({ text: 'Could you please tell me where I can park my car today?', expects: '' })
  await sleep(1_500)
  await kill('silent')
  const { heard, latencyMs } = await asking
  // Its words are how long somebody spoke: all of the sentence is more than two seconds.
  const tenths = [...heard.matchAll(/heard (\d+) tenths/g)].reduce((sum, [, count]) => sum + Number(count), 0)
  t.ok(tenths >= 20, `${heard}: what was said before it died, too`)
  t.comment(`answered ${latencyMs.toFixed(0)} ms after the last word`)
  await caller.hangUp(signal)
})

t.test('the voice’s process dies while it speaks: another says the rest', async (t) => {
  const signal = limit()
  const hello = 'Good morning and welcome to the Hotel Aurora. What may I do for you today?'
  const { rest, agentId } = await makeAgent(instance.url, {
    agent_name: 'A voice of others',
    system_prompt: 'You follow a script.',
    first_message: hello,
    STT_provider: 'sim',
    LLM_provider: 'sim',
    TTS_provider: 'slow',
    TTS_voice: 'hum',
    fallbacks: { TTS: [{ provider: 'sim', voice: 'tone' }] },
  })
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const conversation = new Conversation(caller, silent, signal)
  await once(caller, 'agentStarts', { signal })
  await sleep(1_000)
  const sounds: number[] = []
  caller.on('agentStarts', (atMs: number) => void sounds.push(atMs))
  caller.on('agentStops', (atMs: number) => void sounds.push(-atMs))
  const killedMs = performance.now()
  await kill('slow')
  await conversation.agentDone()
  const [stops, starts] = [sounds.find((atMs) => atMs < 0), sounds.find((atMs) => atMs > 0)]
  const silenceMs = stops === undefined || starts === undefined ? 0 : starts + stops
  t.comment(`silent for ${silenceMs.toFixed(0)} ms after it died`)
  t.ok(silenceMs < 5_000, 'the caller does not wait')
  t.ok(performance.now() - killedMs > 1_000, 'there was a rest to say')
  await caller.hangUp(signal)
  const { transcript } = await finishedLog(rest, callLogId, signal)
  t.match(transcript, [{ role: 'assistant', text: hello, interrupted: false }])
})
