import { setImmediate as turn } from 'node:timers/promises'
import { CallerAudio } from '../../../../../../runtime/call/control/caller-audio.ts'
import { WorkerRequests } from '../../../../../../runtime/call/control/worker-requests.ts'
import type { SessionPort } from '../../../../../../runtime/call/link/linked-conversation.ts'
import type { OpenSession } from '../../../../../../runtime/call/link/messages.ts'
import { CallLog } from '../../../../../../runtime/call/log/call-log.ts'
import type { CallEvent, CallEventBody } from '../../../../../../runtime/call/log/events.ts'
import { cutOff } from '../../../../../../runtime/call/log/fold.ts'
import { type Resume, resumeOf, type ToolCall } from '../../../../../../runtime/call/log/resume.ts'
import { stagesOf } from '../../../../../../runtime/call/path.ts'
import { endingOf, silenceOf } from '../../../../../../runtime/conversation/hearing/end-of-turn.ts'
import { languageOf } from '../../../../../../runtime/conversation/languages/index.ts'
import { finishTools } from '../../../../../../runtime/conversation/replying/finish-tools.ts'
import type { Order, Purpose, Report } from '../../../../../../runtime/conversation/stages/signal.ts'
import { Stages } from '../../../../../../runtime/conversation/stages/stage.ts'
import { initialState } from '../../../../../../runtime/conversation/stages/state.ts'
import { AGENT_SPEC } from '../../../../../support/providers/agent-spec.ts'

/**
 * A call whose workers die where they are told to: log, fold, caller's audio, tools and stages are the real ones; ears, mouth
 * and language model are played, in steps of 20 ms of a clock of their own.
 */

const STEP_MS = 20
const PACKET = 160
const WORD_STEPS = 4
const UTTERANCE_STEPS = 20
/** Of silence, until the recogniser has its words. */
const SILENT_STEPS = 8
const THINKING_STEPS = 5
const TOOL_MS = 300
const NEXT_WORKER_MS = 400
const MAX_STEPS = 20_000
/** Nobody speaks for so long: whatever was still to come has come. */
const CALM_STEPS = 40

/** What the caller does, once the agent has said all it has to say. */
export interface Act {
  does: 'says' | 'types' | 'keys'
  text: string
}

export interface Plan {
  agent: Partial<OpenSession['agent']>
  acts: readonly Act[]
  /** The worker dies with the event of this number that it sees written, one after the other. */
  deaths: readonly number[]
}

export interface Outcome {
  /** The words the caller heard. */
  heard: string[]
  log: CallEvent[]
  state: CallLog['state']
  /** The names by which tools were called. */
  tools: string[]
}

/** What the language model answers; what begins with "book" it has booked first. */
const answerTo = (question: string, booked: string | undefined): string =>
  booked === undefined ? `about ${question} we can say this` : `for ${question} the number is ${booked}`

const AGAIN: ReadonlySet<Purpose> = new Set(['apology', 'prompt', 'goodbye', 'supervisor'])

interface Speech {
  purpose: Purpose
  interruptible: boolean
  words: string[] | undefined
  said: number
  waits: number
  startMs: number
}

export async function play({ agent, acts, deaths }: Plan): Promise<Outcome> {
  let nowMs = 1_000
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const heard: string[] = []
  const events: CallEvent[] = []
  const tools: string[] = []
  const audio = new CallerAudio()
  const due: { atMs: number; run: () => void }[] = []
  const later = (ms: number) => new Promise<void>((run) => due.push({ atMs: nowMs + ms, run }))
  let worker: Worker | undefined
  let lives = [...deaths]
  const log = new CallLog(clock, [
    (event) => {
      events.push(event)
      audio.take(event, nowMs)
      if (worker === undefined || worker.dead || lives.length === 0) return
      if (lives[0]! > 0) lives[0]!--
      else {
        worker.dead = true
        lives = lives.slice(1)
      }
    },
  ])
  const answers = {
    tool: async (
      _of: { callId: string },
      { arguments: given }: { arguments: Record<string, unknown> },
      key: string,
    ) => {
      tools.push(key)
      await later(TOOL_MS)
      return { output: `[${String(given.question).length}]` }
    },
    knowledge: async () => ({ passages: [] }),
  }
  const asks = new WorkerRequests({
    ...{ callId: 'c', log, answers, clock },
    agent: () => AGENT_SPEC,
    isAlone: () => false,
    handOff: () => undefined,
  })

  const silenceMs = (text: string) =>
    silenceOf(endingOf(text, { asked: '', punctuates: true }, languageOf(AGENT_SPEC.language)))

  class Worker {
    dead = false
    readonly #stages: Stages
    readonly #resume: Resume | undefined
    readonly #turns: { role: 'user' | 'assistant'; text: string }[]
    readonly #early: CallEventBody[] = []
    #accepted = false
    #tools: number
    #queue: Speech[] = []
    #utterance = 0
    #silentSteps = 0
    #spokenFromMs = 0
    #spokenUntilMs = 0
    #turnDueMs: number | undefined
    #turnText = ''

    constructor(resume: Resume | undefined) {
      this.#resume = resume
      this.#turns = (resume?.turns ?? []).map(({ role, text }) => ({ role, text }))
      this.#tools = resume?.toolCalls ?? 0
      const open = {
        session: 1,
        callId: 'c',
        format: { encoding: 'pcmu', sampleRateHz: 8_000 },
        limits: { idleMs: 1e9, maxDurationMs: 1e9 },
        elapsedMs: nowMs - 1_000,
        ...(resume === undefined ? {} : { resume }),
        agent: { ...AGENT_SPEC, firstMessage: '', deadAir: { enabled: false, phrases: [] }, ...agent },
      } as OpenSession
      const language = () => languageOf(open.agent.language)
      this.#stages = new Stages(
        stagesOf({ open, callMs: (atMs) => Math.max(0, atMs - 1_000), language, tag: () => 'en', nowMs: () => nowMs }),
        initialState(open.resume),
        () => nowMs,
        (order) => this.#do(order),
      )
      this.report({ type: 'begin' })
    }

    accept(): void {
      this.#accepted = true
      for (const body of this.#early.splice(0)) this.tell(body)
    }

    tell(body: CallEventBody): void {
      if (!this.#accepted) this.#early.push(body)
      // What a dead worker says reaches nobody.
      else if (!this.dead) log.append(body)
    }

    report(report: Report): boolean {
      return !this.dead && this.#stages.report(report)
    }

    /** A packet of the caller: which of their utterances it is of; 0: silence. */
    hear(utterance: number, atMs: number): void {
      if (utterance > 0) {
        if (this.#utterance === 0) {
          this.#spokenFromMs = atMs
          this.report({ type: 'speech_started', atMs })
        }
        this.#utterance = utterance
        this.#spokenUntilMs = atMs
        this.#silentSteps = 0
        return
      }
      if (this.#utterance === 0 || ++this.#silentSteps < SILENT_STEPS) return
      const { text } = acts[this.#utterance - 1]!
      const times = { startMs: this.#spokenFromMs, endMs: this.#spokenUntilMs }
      this.#utterance = 0
      this.report({ type: 'speech_ended', atMs: times.endMs })
      this.report({ type: 'heard_words', text, final: true, ...times })
      this.#turnText = text
      this.#turnDueMs = Math.max(nowMs, times.endMs + silenceMs(text))
    }

    step(index: number): void {
      if (this.dead) return
      if (this.#turnDueMs !== undefined && nowMs >= this.#turnDueMs) {
        this.#turnDueMs = undefined
        const spoken = { text: this.#turnText, startMs: this.#spokenFromMs, endMs: this.#spokenUntilMs }
        this.#interrupt(false)
        const taken = this.report({ type: 'turn_over', turn: spoken, kept: false })
        if (!taken) this.#reply(spoken.text)
      }
      if (index % 3 === 0) this.report({ type: 'tick' })
      this.#speak(index)
    }

    get calm(): boolean {
      return this.#queue.length === 0 && this.#utterance === 0 && this.#turnDueMs === undefined
    }

    #do(order: Order): void {
      switch (order.type) {
        case 'tell':
          this.tell(order.event)
          break
        case 'say': {
          const { text, purpose, interruptible } = order
          this.#queue.push({ purpose, interruptible, words: text.split(' '), said: 0, waits: 1, startMs: 0 })
          if (!AGAIN.has(purpose)) this.tell({ type: 'said', text })
          if (!interruptible) queueMicrotask(() => this.report({ type: 'uninterruptible', on: true }))
          break
        }
        case 'answer':
          this.#interrupt(false)
          this.#reply(order.text)
          break
        case 'continue_reply':
          void this.#goOn()
          break
        case 'interrupt':
          if (order.force === 'keep_uninterruptible' && this.#queue.some(({ interruptible }) => !interruptible)) break
          this.#interrupt(order.force !== false)
          break
        case 'end':
          throw new Error(`the worker ended the call: ${order.reason}`)
      }
    }

    async #goOn(): Promise<void> {
      const port = { ask: (method: 'tool', params: unknown) => asks.ask(method, params) } as unknown as SessionPort
      const finished = this.#resume && (await finishTools(this.#resume.tools, port, new AbortController().signal))
      if (this.dead) return
      const asked = this.#turns.findLast(({ role }) => role === 'user')
      if (asked !== undefined) this.#think(asked.text, finished ?? this.#resume?.tools ?? [])
    }

    #reply(text: string): void {
      this.#turns.push({ role: 'user', text })
      this.#think(text, [])
    }

    /** What the language model does: its tool first, then all the words that were not said yet. */
    #think(question: string, known: readonly ToolCall[]): void {
      const speech: Speech = { purpose: 'reply', interruptible: true, words: undefined, said: 0, waits: 0, startMs: 0 }
      this.#queue.push(speech)
      this.report({ type: 'agent_state', state: 'thinking' })
      const from = this.#turns.findLastIndex(({ role }) => role === 'user') + 1
      const before = this.#turns.slice(from).map(({ text }) => text)
      const ready = (booked: string | undefined): void => {
        const text = answerTo(question, booked).slice(before.join(' ').length).trim()
        speech.words = text.split(' ')
        speech.waits = THINKING_STEPS
        this.report({ type: 'first_text', atMs: nowMs })
        this.tell({ type: 'said', text })
      }
      const books = question.startsWith('book')
      const result = books ? known.find((tool) => tool.arguments.question === question)?.result : undefined
      if (!books || result !== undefined) {
        ready(result)
        return
      }
      const id = `tool-${++this.#tools}`
      void asks.ask('tool', { id, name: 'book', arguments: { question } }).then((given) => {
        if (!this.dead) ready((given as { output: string }).output)
      })
    }

    /** A word of what is being said, at the pace of speech. */
    #speak(index: number): void {
      const speech = this.#queue[0]
      if (speech?.words === undefined || index % WORD_STEPS !== 0 || speech.waits-- > 0) return
      const { purpose, words } = speech
      if (speech.said === 0) {
        speech.startMs = nowMs
        this.report({ type: 'voice_started', purpose })
        this.report({ type: 'audible', atMs: nowMs, purpose })
        this.report({ type: 'agent_state', state: 'speaking' })
      }
      if (this.dead || speech !== this.#queue[0]) return
      heard.push(words[speech.said++]!)
      const text = words.slice(0, speech.said).join(' ')
      if (speech.said < words.length) {
        this.report({ type: 'voice_progress', text, startMs: speech.startMs, endMs: nowMs })
        return
      }
      this.#over(false)
    }

    #interrupt(force: boolean): void {
      while (this.#queue[0]?.interruptible === true || (force && this.#queue.length > 0)) this.#over(true)
    }

    #over(interrupted: boolean): void {
      const { purpose, words = [], said, startMs, interruptible } = this.#queue.shift()!
      const text = words.slice(0, said).join(' ')
      if (text !== '') this.#turns.push({ role: 'assistant', text })
      this.report({ type: 'voice_ended', text, startMs, endMs: nowMs, interrupted })
      this.report({ type: 'speech_over', purpose, interrupted, hangsUp: false })
      if (!interruptible) this.report({ type: 'uninterruptible', on: false })
      if (this.#queue.length === 0) this.report({ type: 'agent_state', state: 'listening' })
    }
  }

  let bornAtMs = nowMs
  let first = true
  let timestamp = 0
  let acted = 0
  let speaks: { utterance: number; left: number } | undefined
  let calm = 0
  for (let index = 1; ; index++) {
    if (index > MAX_STEPS) throw new Error(`it went on for ever; heard so far: ${heard.join(' ')}`)
    nowMs += STEP_MS
    if (worker === undefined && nowMs >= bornAtMs) {
      const resume = first ? undefined : (JSON.parse(JSON.stringify(resumeOf(log.state, audio.last))) as Resume)
      const born: Worker = new Worker(resume)
      worker = born
      log.append({ type: first ? 'answered' : 'resumed', ...(first ? {} : { worker: 'w' }) } as CallEventBody)
      first = false
      born.accept()
      audio.deliver({ audio: (bytes, at) => born.hear(bytes[0]!, 1_000 + (at / PACKET) * STEP_MS) }, nowMs)
      for (const event of log.state.waiting) born.report({ type: 'input', event })
    }
    calm = worker?.calm === true && speaks === undefined && due.length === 0 ? calm + 1 : 0
    if (calm > CALM_STEPS) {
      const act = acts[acted++]
      if (act === undefined) break
      calm = 0
      if (act.does === 'says') speaks = { utterance: acted, left: UTTERANCE_STEPS }
      for (const digit of act.does === 'keys' ? act.text : []) given({ type: 'key', digit })
      if (act.does === 'types') given({ type: 'typed', text: act.text })
    }
    timestamp += PACKET
    const utterance = speaks?.utterance ?? 0
    if (speaks !== undefined && --speaks.left === 0) speaks = undefined
    audio.hear(Uint8Array.of(utterance), timestamp, nowMs)
    worker?.hear(utterance, nowMs)
    for (const one of due.filter(({ atMs }) => nowMs >= atMs)) {
      due.splice(due.indexOf(one), 1)
      one.run()
    }
    await turn()
    worker?.step(index)
    await turn()
    if (worker?.dead !== true) continue
    worker = undefined
    bornAtMs = nowMs + NEXT_WORKER_MS
    const cut = cutOff(log.state)
    if (cut !== undefined) log.append(cut)
    log.append({ type: 'worker_lost', worker: 'w', reason: 'killed' })
  }
  return { heard, log: events, state: log.state, tools }

  function given(body: CallEventBody): void {
    const event = log.append(body)
    if (event !== undefined) worker?.report({ type: 'input', event })
  }
}
