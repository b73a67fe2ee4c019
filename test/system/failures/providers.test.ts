import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createLogger } from '../../../runtime/process/log.ts'
import { Caller } from '../../../scripts/demo/caller.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { startTestVoice } from '../../support/phone/voice.ts'
import { startDoubles } from '../../support/providers/doubles/start.ts'
import type { FaultProxy } from '../../support/world/fault-proxy.ts'
import { waitUntil } from '../../support/world/wait-until.ts'
import { type FailureRow, type Fault, faultsOfNetwork, heardLog, missingInDocs, proxied } from './failures.ts'

const FAULT_MS = 4_000
/** What a question may take to be answered, in whatever way. */
const ANSWER_LIMIT_MS = 15_000
const MOST_RECOVERY_MS = 30_000
const QUESTION = 'What time do you open on Saturday?'
const QUIET_AFTER_MS = 300

/** The providers of an agent, one of which fails. */
interface Stage {
  name: string
  proxy: FaultProxy
  double: 'openai' | 'cartesia' | 'deepgram'
  agent: Record<string, unknown>
  /** The question is spoken, as typed words need no recogniser. */
  isSpoken?: boolean
}

async function startWorld(t: Test) {
  const heard = heardLog()
  const log = createLogger({ level: 'warn', name: 'test', destination: heard.destination })
  const doubles = await startDoubles()
  t.teardown(() => doubles.stop())
  const at = {
    openai: await proxied(t, doubles.doubles.openai.url),
    cartesia: await proxied(t, doubles.doubles.cartesia.url),
    deepgram: await proxied(t, doubles.doubles.deepgram.url),
  }
  const env = {
    ...doubles.env,
    ...{ OPENAI_BASE_URL: `${at.openai.url}/v1`, CARTESIA_BASE_URL: at.cartesia.url },
    ...{ DEEPGRAM_BASE_URL: at.deepgram.url, PATCHBAY_IDLE_TIMEOUT_MS: '3600000' },
  }
  const api = await startTestApi(t, { env, log })
  await startTestVoice(t, api, env, log)
  return { heard, at, doubles: doubles.doubles, api, user: await api.signUp() }
}

/** A person in a call: asks, and says what came of it. */
class Person {
  readonly caller: Caller
  readonly callId: string
  readonly #isSpoken: boolean
  #said: string[] = []

  constructor(caller: Caller, callId: string, isSpoken: boolean) {
    this.caller = caller
    this.callId = callId
    this.#isSpoken = isSpoken
    caller.on('message', (message) => {
      if (message.type === 'transcript' && message.role === 'assistant' && message.final) this.#said.push(message.text)
    })
  }

  async greeted(): Promise<void> {
    await waitUntil(() => this.#said.length > 0)
    await this.#agentIsSilent()
  }

  /** What is said over the agent would cut it off. */
  #agentIsSilent(): Promise<void> {
    return waitUntil(() => !this.caller.agentSpeaking, undefined, { everyMs: 20 })
  }

  /** The first words of the agent after the question, with whether they were heard; undefined: nothing within the limit. */
  async ask(): Promise<{ text: string; isHeard: boolean } | undefined> {
    const { caller } = this
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS)
    await this.#agentIsSilent()
    this.#said = []
    const soundMs = caller.audibleMs
    if (this.#isSpoken) await caller.say(QUESTION, signal).catch(() => 0)
    else caller.type(QUESTION)
    while (!signal.aborted) {
      const text = this.#said[0]
      // Its last sound may be on its way.
      if (text !== undefined) {
        await sleep(QUIET_AFTER_MS)
        return { text, isHeard: caller.audibleMs > soundMs }
      }
      await sleep(50)
    }
    return undefined
  }
}

const NORMAL = /nine/
const wordsOf = (answer: Awaited<ReturnType<Person['ask']>>): string => {
  if (answer === undefined) return 'silence'
  if (!answer.isHeard) return 'the answer, without sound'
  return NORMAL.test(answer.text) ? 'the answer' : `"${answer.text}"`
}

t.test('a provider that fails costs a sentence at worst, and the next question is answered', async (t) => {
  const { heard, at, doubles, api, user } = await startWorld(t)
  const { client } = user
  const simulated = { LLM_provider: 'sim', STT_provider: 'sim', TTS_provider: 'sim' }
  const script = { LLM_model: JSON.stringify({ script: [{ question: QUESTION, answer: 'We open at nine.' }] }) }
  const openai = { LLM_provider: 'openai', LLM_model: 'gpt-4.1-mini' }
  const stages: Stage[] = [
    { name: 'language model', proxy: at.openai.proxy, double: 'openai', agent: openai },
    {
      ...{ name: 'language model, with a fallback', proxy: at.openai.proxy, double: 'openai' },
      agent: { ...openai, fallbacks: { LLM: [{ provider: 'offline', model: 'extractive' }] } },
    },
    {
      ...{ name: 'voice', proxy: at.cartesia.proxy, double: 'cartesia' },
      agent: { ...script, TTS_provider: 'cartesia' },
    },
    {
      ...{ name: 'recogniser', proxy: at.deepgram.proxy, double: 'deepgram', isSpoken: true },
      agent: { ...script, STT_provider: 'deepgram', STT_model: 'nova-3' },
    },
  ]
  const dial = async (agentId: string, isSpoken: boolean): Promise<Person> => {
    const { body } = await client.get('/calls/generate-token', { query: { agent_id: agentId } })
    const url = `${api.url.replace(/^http/, 'ws')}/realtime?token=${body.token}`
    const person = new Person(await Caller.dial({ url }, AbortSignal.timeout(30_000)), body.call_log_id, isSpoken)
    await person.greeted()
    return person
  }
  const rows: FailureRow[] = []
  for (const { name: dependency, proxy, double, agent, isSpoken = false } of stages) {
    const { faults } = doubles[double]
    const ofProvider: Fault[] = [
      { name: 'answers 503', begin: () => faults.set({ kind: 'refuse', status: 503 }), end: () => faults.clear() },
      {
        ...{ name: 'too many requests: answers 429', end: () => faults.clear() },
        begin: () => faults.set({ kind: 'refuse', status: 429 }),
      },
    ]
    const { body, text } = await client.post('/agents', {
      body: {
        ...{
          agent_name: 'Ava',
          system_prompt: 'You answer for a shop. On Saturday it opens at nine.',
          first_message: 'Hi.',
        },
        ...{ ...simulated, ...agent },
      },
    })
    if (body.agent_id === undefined) throw new Error(text)
    for (const { name: fault, begin, end } of [...faultsOfNetwork(proxy), ...ofProvider]) {
      const where = `${dependency}, ${fault}`
      const person = await dial(body.agent_id, isSpoken)
      t.equal(wordsOf(await person.ask()), 'the answer', `${where}: before`)
      heard.of()
      await begin()
      // A connection of the provider that is open is in use.
      let endedMs = 0
      const ending = sleep(FAULT_MS).then(async () => {
        await end()
        endedMs = performance.now()
      })
      const [during] = await Promise.all([person.ask(), ending])
      // The question before may have been without an answer for longer than the fault.
      const firstMs = Math.max(endedMs, performance.now())
      let [askedMs, after] = [performance.now(), await person.ask()]
      while (wordsOf(after) !== 'the answer' && askedMs - firstMs < MOST_RECOVERY_MS) {
        ;[askedMs, after] = [performance.now(), await person.ask()]
      }
      const recoveryMs = askedMs - firstMs
      const { status } = (await client.get(`/calls/${person.callId}`)).body
      t.equal(status, 'in_progress', `${where}: the call goes on`)
      t.equal(wordsOf(after), 'the answer', `${where}: the next question is answered`)
      rows.push({
        ...{ dependency, fault, recoveryMs, caller: wordsOf(during), log: heard.of() },
        clients: [status === 'in_progress' ? 'goes on' : `is ${status}`],
      })
      await person.caller.hangUp(AbortSignal.timeout(10_000)).catch(() => {})
    }
  }
  t.same(
    await missingInDocs('providers', rows),
    [],
    'docs/failures.md has a row for each: UPDATE_FAILURES=1 writes them',
  )
})
