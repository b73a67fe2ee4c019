import { holds } from './pattern.ts'
import type { TestLine } from './schema.ts'

/** How long people think before they answer. */
const WAIT_MS = 300

/** `recordedTurn`: in sound it is heard as in this turn of the recorded call. */
export interface CallerWords {
  say: string
  recordedTurn?: number | undefined
}

/** What the caller does next. */
export interface CallerAct {
  waitMs: number
  does: CallerWords | { keys: string } | { silenceMs: number } | 'hang_up'
}

/** Who talks with the agent under test. */
export interface TestCaller {
  /** Asked when the agent begins to speak: a line that cuts in, `atMs` after that beginning. Taken where it is returned. */
  cutIn(agentSays: string): (CallerWords & { atMs: number }) | undefined
  /** Asked when the agent waits for the caller. */
  next(agentSaid: string): Promise<CallerAct> | CallerAct
  /** What was left when the conversation ended. */
  unsaid(): string[]
}

/**
 * A caller with lines: those with `when` are said once, as soon as the agent's last words hold it; the others in order. After the last one
 * the caller hangs up.
 */
export class ScriptedCaller implements TestCaller {
  #lines: TestLine[]

  constructor(lines: readonly (string | TestLine)[]) {
    this.#lines = lines.map((line) => (typeof line === 'string' ? { say: line } : line))
  }

  cutIn(agentSays: string): (CallerWords & { atMs: number }) | undefined {
    const line = this.#due(agentSays)
    if (line?.barge_in_at === undefined || line.say === undefined) return undefined
    this.#take(line)
    return { say: line.say, recordedTurn: line.recorded_turn, atMs: line.barge_in_at }
  }

  next(agentSaid: string): CallerAct {
    const line = this.#due(agentSaid)
    if (line === undefined) return { waitMs: WAIT_MS, does: 'hang_up' }
    this.#take(line)
    const { wait: waitMs = WAIT_MS, say, keys, silence, recorded_turn: recordedTurn } = line
    if (say !== undefined) return { waitMs, does: { say, recordedTurn } }
    if (keys !== undefined) return { waitMs, does: { keys } }
    return { waitMs, does: silence === undefined ? 'hang_up' : { silenceMs: silence } }
  }

  unsaid(): string[] {
    return this.#lines.map(({ say, keys, silence }) => say ?? keys ?? (silence === undefined ? 'hang up' : 'silence'))
  }

  #due(agentWords: string): TestLine | undefined {
    const answers = this.#lines.find(({ when }) => when !== undefined && holds(when, agentWords) === true)
    return answers ?? this.#lines.find(({ when }) => when === undefined)
  }

  #take(line: TestLine): void {
    this.#lines = this.#lines.filter((one) => one !== line)
  }
}
