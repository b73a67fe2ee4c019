import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { words } from '../../plugins/offline/words.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import { Caller } from './caller.ts'
import { Conversation, type Exchange, type Say } from './conversation.ts'
import type { Combination } from './providers.ts'
import { type CallLog, RestClient, type SessionToken } from './rest.ts'
import { AGENT, type Question, scriptOf } from './script.ts'
import { voiceProcess } from './voice-process.ts'
import { withRoom } from './with-room.ts'

export interface DemoCall {
  exchanges: Exchange[]
  log: CallLog
  /** What went otherwise than it should; empty when all went well. */
  faults: string[]
}

/** A call that was hung up is logged as over within this. */
const LOG_TIMEOUT_MS = 20_000
const RECOVERY_TIMEOUT_MS = 45_000

/** A new user with a workspace and the demo's agent. */
export async function makeAgent(
  url: string,
  agent: Record<string, unknown> = AGENT,
): Promise<{ rest: RestClient; agentId: string }> {
  const rest = new RestClient(url)
  const email = `demo-${randomUUID()}@example.com`
  const password = randomUUID()
  await rest.send('POST', '/auth/signup', { name: 'Demo', email, password, phone_number: '+14155550100' })
  await rest.send('POST', '/auth/login', { email, password })
  const workspace = await rest.send<{ workspace_id: string }>('POST', '/workspaces', { name: 'Demo', type: 'business' })
  await rest.send('POST', `/workspaces/${workspace.workspace_id}/switch`)
  const { agent_id } = await rest.send<{ agent_id: string }>('POST', '/agents', agent)
  return { rest, agentId: agent_id }
}

/** Opens a realtime session with an agent. */
export function dialAgent(
  rest: RestClient,
  agentId: string,
  signal: AbortSignal,
  voice?: string,
): Promise<{ caller: Caller; callLogId: string }> {
  return withRoom(async () => {
    const token = await rest.send<SessionToken>('GET', `/calls/generate-token?agent_id=${agentId}`)
    const realtime = new URL(token.realtime_url)
    // The instance may be known to the world under another name than to us.
    realtime.host = new URL(rest.url).host
    realtime.protocol = rest.url.startsWith('https') ? 'wss' : 'ws'
    const url = realtime.href
    return {
      caller: await Caller.dial({ url, ...(voice !== undefined && { voice }) }, signal),
      callLogId: token.call_log_id,
    }
  }, signal)
}

/** The whole demo once: an agent, a call with three questions and one barge-in, the call log, and what was wrong. */
export async function runDemo(
  url: string,
  options: {
    killWorker: boolean
    providers?: Combination | undefined
    /** A language tag, or `multi`. */
    language?: string | undefined
    say: Say
    signal: AbortSignal
  },
): Promise<DemoCall> {
  const { say, signal } = options
  const { agent, voice, questions } = scriptOf(options.language)
  const { rest, agentId } = await makeAgent(url, { ...agent, ...options.providers })
  say(`Agent "${agent.agent_name}" ${agentId}`)
  const { caller, callLogId } = await dialAgent(rest, agentId, signal, voice)
  say(`Call ${callLogId}`)
  const exchanges: Exchange[] = []
  try {
    const conversation = new Conversation(caller, say, signal)
    await conversation.greeting()
    for (const [index, question] of questions.entries()) {
      exchanges.push(await conversation.ask(question))
      if (index === 0 && options.killWorker) {
        await conversation.agentDone()
        await killVoiceWorker(rest, callLogId, say, signal)
      }
    }
    await conversation.agentDone()
    await caller.hangUp(signal)
  } finally {
    caller.vanish()
  }
  const log = await finishedLog(rest, callLogId, signalWithin(LOG_TIMEOUT_MS, signal))
  return { exchanges, log, faults: faultsOf(questions, exchanges, log) }
}

/** The log of a call once it has a terminal status; as it stands when the signal aborts. */
export async function finishedLog(rest: RestClient, callLogId: string, signal: AbortSignal): Promise<CallLog> {
  for (;;) {
    const log = await rest.send<CallLog>('GET', `/calls/${callLogId}`)
    if (!['queued', 'ringing', 'in_progress'].includes(log.status) || signal.aborted) return log
    await sleep(100, undefined, { signal }).catch(() => undefined)
  }
}

interface Events {
  items: { type: string; worker?: string }[]
}

/** Kills the voice worker that serves the call, without any warning, and waits until another one has taken it over. */
export async function killVoiceWorker(
  rest: RestClient,
  callLogId: string,
  say: Say,
  signal: AbortSignal,
): Promise<void> {
  const serving = async (): Promise<string | undefined> => {
    const { items } = await rest.send<Events>('GET', `/calls/${callLogId}/events?page_size=200`)
    return items.findLast(({ type }) => type === 'worker_taken' || type === 'resumed')?.worker
  }
  let worker = await serving()
  while (worker === undefined) {
    await sleep(100, undefined, { signal })
    worker = await serving()
  }
  const pid = await voiceProcess(worker)
  if (pid === undefined) throw new Error(`The voice worker ${worker} is no process of this machine`)
  process.kill(pid, 'SIGKILL')
  const killedMs = performance.now()
  say(`          voice worker ${worker} killed`)
  let successor: string | undefined = worker
  while (successor === worker) {
    if (performance.now() - killedMs > RECOVERY_TIMEOUT_MS) throw new Error('No voice worker took the call over')
    await sleep(100, undefined, { signal })
    successor = await serving()
  }
  say(`          the call goes on in ${successor} after ${((performance.now() - killedMs) / 1000).toFixed(1)} s`)
}

function faultsOf(questions: readonly Question[], exchanges: readonly Exchange[], log: CallLog): string[] {
  const faults: string[] = []
  const expect = (condition: boolean, fault: string) => {
    if (!condition) faults.push(fault)
  }
  const has = (text: string, part: string) => words(text).join(' ').includes(words(part).join(' '))
  expect(exchanges.length === questions.length, `${exchanges.length} of ${questions.length} questions were asked`)
  expect(log.status === 'completed', `the call log's status is "${log.status}", not "completed"`)
  for (const [index, question] of questions.entries()) {
    const heard = exchanges[index]?.heard ?? ''
    expect(has(heard, question.text), `"${question.text}" was heard as "${heard}"`)
    const at = log.transcript.findIndex((turn) => turn.role === 'user' && has(turn.text, question.text))
    expect(at >= 0, `the call log lacks the question "${question.text}"`)
    const rest = log.transcript.slice(at + 1)
    const next = rest.findIndex(({ role }) => role === 'user')
    // What fills the wait for a late answer may be a turn of its own.
    const answers = next < 0 ? rest : rest.slice(0, next)
    const said = answers.map((turn) => turn.text).join(' ')
    expect(has(said, question.expects), `"${question.text}" was answered with "${said}"`)
    const cut = questions[index + 1]?.bargesIn === true
    expect(
      answers.at(-1)?.interrupted === cut,
      `the call log ${cut ? 'does not mark' : 'marks'} the answer to "${question.text}" as interrupted`,
    )
  }
  return faults
}
