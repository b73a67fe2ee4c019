/**
 * `npm run bench -- capacity [--calls=8] [--seconds=40]`: what live calls take of a voice worker and of an api node, by providers, as the
 * capacity table of docs/operations.md has it. Roles are processes as in production; the providers are doubles over real sockets, which
 * hear and speak real sound. Each caller asks a question every eight seconds, over the WebSocket in 16-bit samples.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { processUsage } from '../runtime/process/process-usage.ts'
import { dialAgent, makeAgent } from '../scripts/demo/call.ts'
import { Conversation } from '../scripts/demo/conversation.ts'
import type { RestClient } from '../scripts/demo/rest.ts'
import { scriptOf } from '../scripts/demo/script.ts'
import { roleWhen, startInstallation } from '../test/support/instance/installation.ts'
import { startDoubles } from '../test/support/providers/doubles/start.ts'
import { capacityRow, capacityTable, type Used } from './capacity/row.ts'
import { SETUPS } from './capacity/setups.ts'

const LIMIT_MS = 3_600_000
const QUESTION_EVERY_MS = 8_000
const IDLE_S = 10
/** A call that is answered less often costs less than calls do. */
const LEAST_ANSWERED = 0.8
/** After the last call, until what it leaves is done. */
const REST_MS = 5_000
const { agent: AGENT, questions } = scriptOf()

interface Process {
  readonly child: { readonly pid?: number | undefined }
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { calls: { type: 'string', default: '8' }, seconds: { type: 'string', default: '40' } },
  })
  const [calls, seconds] = [Number(values.calls), Number(values.seconds)]
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (end: () => unknown) => void teardowns.unshift(end) }
  try {
    const doubles = await startDoubles()
    t.teardown(doubles.stop)
    const installation = await startInstallation(t, { calls, limitMs: LIMIT_MS, voiceDrainMs: 500 })
    const api = await installation.api('a', undefined, { ...doubles.env, PATCHBAY_NEW_WORKSPACE_PROVIDERS: '*' })
    await roleWhen(api, 'not_ready')
    const rows = []
    for (const [providers, agent] of Object.entries(SETUPS)) {
      // Each in a worker that has served nobody before.
      const voice = await installation.voice(undefined, doubles.env)
      for (const role of [voice, api]) await roleWhen(role, 'ready')
      const idleBytes = usageOf(voice).memoryBytes
      const { rest, agentId } = await makeAgent(api.url, { ...AGENT, ...agent })
      const { answers, ...taken } = await measure({ rest, agentId, calls, seconds, voice, api })
      const row = capacityRow({ providers, calls, idleBytes, ...taken, ...(await idle(voice, api)) })
      const expected = (calls * taken.seconds * 1_000) / QUESTION_EVERY_MS
      if (answers < LEAST_ANSWERED * expected) {
        throw new Error(
          `${answers} of ${Math.round(expected)} questions were answered: this machine is too busy to be measured`,
        )
      }
      process.stdout.write(`${JSON.stringify({ name: 'capacity', ...row, answers })}\n`)
      rows.push(row)
      voice.child.kill('SIGTERM')
      await voice.ended
    }
    process.stdout.write(`\n${capacityTable(rows)}\n`)
  } finally {
    for (const end of teardowns) await end()
  }
}

/** What both use where nobody calls. */
async function idle(voice: Process, api: Process): Promise<Pick<Used, 'workerIdleCpuMs' | 'apiIdleCpuMs'>> {
  await sleep(REST_MS)
  const [worker, node] = [usageOf(voice), usageOf(api)]
  await sleep(IDLE_S * 1_000)
  return {
    workerIdleCpuMs: (usageOf(voice).cpuMs - worker.cpuMs) / IDLE_S,
    apiIdleCpuMs: (usageOf(api).cpuMs - node.cpuMs) / IDLE_S,
  }
}

async function measure(world: {
  rest: RestClient
  agentId: string
  calls: number
  seconds: number
  voice: Process
  api: Process
}): Promise<Pick<Used, 'seconds' | 'workerCpuMs' | 'apiCpuMs' | 'busyBytes'> & { answers: number }> {
  const { rest, agentId, calls, voice, api } = world
  const over = new AbortController()
  const warm: Promise<void>[] = []
  let answers = 0
  const talks = Array.from({ length: calls }, async (_, index) => {
    const isWarm = Promise.withResolvers<void>()
    warm.push(isWarm.promise)
    try {
      const { caller } = await dialAgent(rest, agentId, AbortSignal.timeout(LIMIT_MS))
      const conversation = new Conversation(caller, () => {}, AbortSignal.timeout(LIMIT_MS))
      await conversation.greeting()
      // Apart, as callers are.
      await sleep((index * QUESTION_EVERY_MS) / calls)
      for (let turn = 0; !over.signal.aborted; turn++) {
        const next = sleep(QUESTION_EVERY_MS)
        const { text, expects } = questions[turn % questions.length]!
        // What a busy machine has a double not hear is a question without an answer.
        const isAnswered = await conversation.ask({ text, expects }).then(
          () => true,
          (error) => {
            if (caller.endReason !== undefined) throw error
            return false
          },
        )
        if (isAnswered) answers++
        isWarm.resolve()
        await next
      }
      await caller.hangUp(AbortSignal.timeout(LIMIT_MS))
    } catch (error) {
      isWarm.reject(error)
      throw error
    }
  })
  const talking = Promise.all(talks)
  await Promise.race([Promise.all(warm), talking])
  answers = 0
  const startedMs = performance.now()
  const before = [usageOf(voice).cpuMs, usageOf(api).cpuMs] as const
  await Promise.race([sleep(world.seconds * 1_000), talking])
  const seconds = (performance.now() - startedMs) / 1_000
  const { cpuMs, memoryBytes } = usageOf(voice)
  const used = {
    answers,
    seconds,
    workerCpuMs: cpuMs - before[0],
    apiCpuMs: usageOf(api).cpuMs - before[1],
    busyBytes: memoryBytes,
  }
  over.abort()
  await talking
  return used
}

function usageOf({ child }: Process): { cpuMs: number; memoryBytes: number } {
  const usage = processUsage(child.pid)
  if (usage === undefined) throw new Error('This system does not say what a process uses: run it on Linux')
  return usage
}
