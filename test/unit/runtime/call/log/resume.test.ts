import fc from 'fast-check'
import t from 'tap'
import { type AskAnswers, WorkerRequests } from '../../../../../runtime/call/control/worker-requests.ts'
import { CallLog } from '../../../../../runtime/call/log/call-log.ts'
import type { CallEvent, CallEventBody } from '../../../../../runtime/call/log/events.ts'
import { cutOff } from '../../../../../runtime/call/log/fold.ts'
import { type Resume, resumeOf, type Turn } from '../../../../../runtime/call/log/resume.ts'
import type { ToolSpec } from '../../../../../runtime/call/types/agent-spec.ts'
import type { Clock } from '../../../../../runtime/lib/clock.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'

/** What workers of the agent ask for in a call of that log. */
function asksOf(
  log: CallLog,
  tool: AskAnswers['tool'],
  clock: Pick<Clock, 'nowMs' | 'monotonicMs'>,
  tools: ToolSpec[] = [],
) {
  return new WorkerRequests({
    ...{ callId: 'c', log, clock, answers: { tool, knowledge: async () => ({ passages: [] }) } },
    agent: () => ({ ...AGENT_SPEC, tools }),
    isAlone: () => false,
    handOff: () => undefined,
  })
}

/** What the agent says to a question; one that books calls its tool first. */
const answerTo = (question: string, booked: string | undefined): string =>
  booked === undefined ? `about ${question} we can say this` : `for ${question} the number is ${booked}`

type Tell = (body: CallEventBody) => void

/** A worker reduced to its duties: it takes what waits, answers each turn once, and goes on where another one stopped. */
class Worker {
  readonly #tell: Tell
  readonly #asks: WorkerRequests
  readonly #resume: Resume | undefined
  readonly #inputs: CallEvent[] = []
  #tools: number

  constructor(resume: Resume | undefined, asks: WorkerRequests, tell: Tell) {
    this.#resume = resume
    this.#asks = asks
    this.#tell = tell
    this.#tools = resume?.toolCalls ?? 0
  }

  input(event: CallEvent): void {
    this.#inputs.push(event)
  }

  async work(): Promise<void> {
    const turns = this.#resume?.turns ?? []
    const last = turns.at(-1)
    const asked = turns.findLast(({ role }) => role === 'user')
    if (last?.role === 'user' || last?.interrupted === true) await this.#answer(asked!.text, spokenSince(turns))
    for (let event = this.#inputs.shift(); event !== undefined; event = this.#inputs.shift()) {
      if (event.type !== 'typed') continue
      this.#tell({ type: 'turn', text: event.text, start_ms: 0, end_ms: 0, inputs: [event.seq] })
      await this.#answer(event.text, '')
    }
  }

  async #answer(question: string, spoken: string): Promise<void> {
    const booked = question.startsWith('book') ? await this.#book(question) : undefined
    const words = answerTo(question, booked).slice(spoken.length).trim().split(' ')
    for (let said = 1; said <= words.length; said++) {
      const final = said === words.length
      const text = words.slice(0, said).join(' ')
      this.#tell({ type: 'heard', text, start_ms: 0, end_ms: 0, interrupted: false, final })
    }
  }

  async #book(question: string): Promise<string> {
    const known = this.#resume?.tools.find((tool) => tool.arguments.question === question)
    if (known?.result !== undefined) return known.result
    const id = known?.id ?? `tool-${++this.#tools}`
    const { output } = (await this.#asks.ask('tool', { id, name: 'book', arguments: { question } })) as {
      output: string
    }
    return output
  }
}

/** What was heard of the answer to the last question. */
function spokenSince(turns: readonly Turn[]): string {
  const asked = turns.findLastIndex(({ role }) => role === 'user')
  return turns
    .slice(asked + 1)
    .map(({ text }) => text)
    .join(' ')
}

/** A call with these questions, whose worker dies after each of these numbers of events. */
async function play(questions: readonly string[], deaths: readonly number[]) {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const log = new CallLog(clock, [])
  const keys: string[] = []
  const tool: AskAnswers['tool'] = async (_of, { arguments: given }, key) => {
    keys.push(key)
    return { output: `[${String(given.question).length}]` }
  }
  const asks = asksOf(log, tool, clock)
  for (const text of questions) log.append({ type: 'typed', text })
  for (const lifeEvents of [...deaths, Number.POSITIVE_INFINITY]) {
    let left = lifeEvents
    const resume = JSON.parse(JSON.stringify(resumeOf(log.state))) as Resume
    const worker = new Worker(resume, asks, (body) => {
      // What a dead worker says reaches nobody.
      if (left-- > 0) log.append(body)
    })
    for (const event of log.state.waiting) worker.input(event)
    await worker.work()
    if (left > 0) break
    const cut = cutOff(log.state)
    if (cut !== undefined) log.append(cut)
    log.append({ type: 'worker_lost', worker: 'w', reason: 'killed' })
  }
  return { turns: log.state.turns, waiting: log.state.waiting, keys }
}

/** The conversation as the caller has it in mind: each question, and what was heard in answer, in however many pieces. */
function heardBy(turns: readonly Turn[]): string[] {
  const conversation: string[] = []
  for (const { role, text } of turns) {
    if (role === 'user') conversation.push(`${text}:`)
    else conversation[conversation.length - 1] += ` ${text}`
  }
  return conversation
}

const question = fc.tuple(fc.boolean(), fc.nat(999)).map(([books, n]) => `${books ? 'book' : 'ask'} ${n}`)

t.test('wherever workers die, the caller hears what they would have heard, and no tool is called twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(question, { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(12), { maxLength: 6 }),
      async (questions, deaths) => {
        const uncut = await play(questions, [])
        const cut = await play(questions, deaths)
        if (JSON.stringify(heardBy(cut.turns)) !== JSON.stringify(heardBy(uncut.turns))) {
          throw new Error(`heard ${JSON.stringify(heardBy(cut.turns))}`)
        }
        if (cut.waiting.length > 0) throw new Error('an input was taken by nobody')
        if (JSON.stringify(cut.keys) !== JSON.stringify(uncut.keys)) throw new Error(`tools: ${cut.keys.join()}`)
      },
    ),
    { numRuns: 300 },
  )
})

t.test('cut after every single event of a call, it comes out the same', async (t) => {
  const questions = ['ask one', 'book two', 'ask three']
  const uncut = await play(questions, [])
  for (let at = 0; at < 40; at++)
    t.same(heardBy((await play(questions, [at])).turns), heardBy(uncut.turns), `after ${at}`)
})

t.test('an argument that its schema marks as secret is given to the tool and masked in the log', async (t) => {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const log: CallEvent[] = []
  const given: unknown[] = []
  const tool: AskAnswers['tool'] = async (_of, params) => {
    given.push(params.arguments)
    return { output: 'ok' }
  }
  const parameters = { type: 'object', properties: { pin: { type: 'string', writeOnly: true } } }
  const spec = { name: 'unlock', description: '', kind: 'http', parameters } as const
  const asks = asksOf(new CallLog(clock, [(event) => log.push(event)]), tool, clock, [spec])
  await asks.ask('tool', { id: 'tool-1', name: 'unlock', arguments: { pin: '4711' } })
  t.same(given, [{ pin: '4711' }])
  t.match(log[0], { type: 'tool_called', arguments: { pin: '***' } })
  t.notMatch(JSON.stringify(log), /4711/)
})
