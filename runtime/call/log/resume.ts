import { type Static, Type } from 'typebox'
import { stringEnum } from '../../lib/string-enum.ts'
import { HANDED_OFF_OUTPUT } from '../types/hand-off.ts'
import { BEGIN_PROCEDURE } from '../types/procedure.ts'
import { ANSWERER, CALL_EVENT_IN_PLACE, CONSENT, type EventOf, GREETING_STEP } from './events.ts'
import type { CallState } from './fold.ts'
import { earlierToolNote } from './note.ts'

const ms = Type.Number()

/** Something said. Times are milliseconds from the moment the call was answered. */
const TURN = Type.Object({
  role: stringEnum('user', 'assistant'),
  text: Type.String(),
  startMs: ms,
  endMs: ms,
  /** It was cut off; `text` holds only the words played. */
  interrupted: Type.Boolean(),
})
export type Turn = Static<typeof TURN>

/** A call of a tool. Without `result` it still runs: who asks for it again, by its id, gets the one result there is. */
const TOOL_CALL = Type.Object({
  id: Type.String(),
  name: Type.String(),
  arguments: Type.Record(Type.String(), Type.Unknown()),
  result: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  /** How many turns were said before it. */
  turn: Type.Integer({ minimum: 0 }),
})
export type ToolCall = Static<typeof TOOL_CALL>

/** Notes to the language model besides the conversation. */
const NOTE = Type.Object({
  text: Type.String(),
  /** How many turns were said before it. */
  turn: Type.Integer({ minimum: 0 }),
})
export type Note = Static<typeof NOTE>

/** That the call was handed from one agent to another. */
export interface Handoff {
  readonly from: string
  readonly to: string
  readonly carries: EventOf<'handed_off'>['carries']
  /** How many turns were said, and tools called, before it. */
  readonly turn: number
  readonly tools: number
  /** The next agent could not take the call; or it is this that brought the call back. */
  readonly failed: boolean
}
/** Of an event `collecting`. */
const COLLECTING = Type.Object({
  id: Type.String(),
  name: Type.String(),
  phase: stringEnum('asking', 'confirming'),
  attempts: Type.Integer({ minimum: 1 }),
  value: Type.Optional(Type.String()),
  confidence: Type.Optional(Type.Number()),
})

/** What happened in a call so far, as the worker needs it that takes the call over: folded from the call's log. */
export const RESUME = Type.Object({
  /** In order. The last one is the caller's: it is not answered yet. It is the agent's and cut off: it was not finished. */
  turns: Type.Array(TURN),
  /** How many turns there were in the call, those that are left out here among them; absent: these. */
  turnCount: Type.Optional(Type.Integer({ minimum: 0 })),
  /** All the words of what the agent was saying, or about to say, when its worker was lost; absent where they are not known. */
  said: Type.Optional(Type.String()),
  tools: Type.Array(TOOL_CALL),
  /** How many tools were called in the call, those that are left out here among them; absent: these. */
  toolCalls: Type.Optional(Type.Integer({ minimum: 0 })),
  /** What was being collected. */
  collecting: Type.Optional(COLLECTING),
  consent: Type.Optional(CONSENT),
  /** The step of the greeting that was begun last; absent: none was. */
  greeting: Type.Optional(GREETING_STEP),
  /** How many turns were said before that step began; absent: none. */
  greetingFrom: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Consent was given or refused by words whose turn is not logged yet: they come again with the replayed audio. */
  consentOwesTurn: Type.Optional(Type.Boolean()),
  /** Who picked up, as the workers before heard it. */
  answeredBy: Type.Optional(ANSWERER),
  /** Who picked up, as the carrier has it. */
  carrierVerdict: Type.Optional(ANSWERER),
  /** A machine has the call: the agent doesn't answer. */
  muted: Type.Boolean(),
  /** The caller has put us on hold. */
  held: Type.Boolean(),
  /** The caller's last packet before this worker, and when it came: what is given to it first was said up to then. */
  heard: Type.Optional(Type.Object({ timestamp: Type.Number(), ms })),
  /** A supervisor talks with the caller: the agent doesn't answer until `gave_back`. */
  takenOver: Type.Boolean(),
  notes: Type.Array(NOTE),
  /** The procedure whose fixed steps are made, and the next of them. */
  procedure: Type.Optional(Type.Object({ id: Type.String(), name: Type.String(), step: Type.Integer({ minimum: 0 }) })),
  /** The call was handed to the agent, and the caller has heard nothing of it yet. */
  owesReply: Type.Optional(Type.Boolean()),
  /**
   * Inputs of the caller and of supervisors that no `turn`, `consent` or `inputs_taken` has named in its `inputs`. They are not lost: each comes as an
   * event once the session is accepted, after the caller's audio since the last turn.
   */
  waiting: Type.Array(CALL_EVENT_IN_PLACE),
})
export type Resume = Static<typeof RESUME>

/** The state handed to the next worker. `heard`: the caller's last packet. */
export function resumeOf(state: CallState, heard?: Resume['heard']): Resume {
  const { said, consent, consentOwesTurn, greeting, greetingFrom, answeredBy, carrierVerdict, waiting } = state
  const { muted, held, takenOver, owesReply, collecting, procedure } = state
  const { from, ...known } = knownToAgent(state)
  return {
    ...known,
    turnCount: state.turns.length,
    toolCalls: state.tools.length,
    ...(said === undefined ? {} : { said }),
    ...(collecting === undefined ? {} : { collecting: collectingOf(collecting) }),
    ...(consent === undefined ? {} : { consent }),
    ...(greeting === undefined ? {} : { greeting, greetingFrom: Math.max(0, greetingFrom - from) }),
    ...(consentOwesTurn ? { consentOwesTurn } : {}),
    ...(answeredBy === undefined ? {} : { answeredBy }),
    ...(carrierVerdict === undefined ? {} : { carrierVerdict }),
    muted,
    held,
    ...(heard === undefined ? {} : { heard }),
    takenOver,
    ...(owesReply ? { owesReply } : {}),
    ...(procedure === undefined ? {} : { procedure }),
    waiting: [...waiting],
  }
}

/**
 * What the present agent may know of the conversation: where the call was handed to it, what was carried. Tools of the agents before
 * are not its own: it reads of them. `from`: the turns before are left out.
 */
function knownToAgent({ turns, tools, notes, handoffs }: CallState): Pick<Resume, 'turns' | 'tools' | 'notes'> & {
  from: number
} {
  const made = handoffs.filter(({ failed }) => !failed)
  const last = made.at(-1)
  if (last === undefined) return { turns: [...turns], tools: [...tools], notes: [...notes], from: 0 }
  const from = made.findLast(({ carries }) => carries !== 'all')?.turn ?? 0
  const moved = <T extends { turn: number }>(one: T): T => ({ ...one, turn: one.turn - from })
  // A hand-off is told by a note of its own.
  const earlier = tools
    .slice(0, last.tools)
    .filter(
      ({ name, turn, result }) =>
        turn >= from && result !== undefined && result !== HANDED_OFF_OUTPUT && name !== BEGIN_PROCEDURE,
    )
  const read = earlier.map((tool): Note => ({ text: earlierToolNote(tool), turn: tool.turn }))
  const told = notes.filter(({ turn }) => turn >= from)
  return {
    turns: turns.slice(from),
    tools: tools.slice(last.tools).map(moved),
    notes: [...read, ...told].sort((a, b) => a.turn - b.turn).map(moved),
    from,
  }
}

const collectingOf = ({
  id,
  name,
  phase,
  attempts,
  value,
  confidence,
}: EventOf<'collecting'>): Resume['collecting'] => {
  return {
    id,
    name,
    phase,
    attempts,
    ...(value === undefined ? {} : { value }),
    ...(confidence === undefined ? {} : { confidence }),
  }
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value)) + 1

/**
 * As much of it as fits into `maxBytes` of JSON: the oldest turns, tools and notes are left out. Tools that still run, what the
 * caller waits for, and where the call stands are kept.
 */
export function cutResume(resume: Resume, maxBytes: number): Resume {
  const { turns, tools, notes, ...rest } = resume
  const running = tools.filter(({ result }) => result === undefined)
  let left = maxBytes - bytesOf({ turns: [], tools: running, notes: [], ...rest })
  const kept = { turns: [] as Turn[], tools: [] as ToolCall[], notes: [] as Note[] }
  const done = tools.filter(({ result }) => result !== undefined)
  const fits = (value: unknown): boolean => {
    left -= bytesOf(value)
    return left >= 0
  }
  let from = turns.length
  // Newest first: what was said at a place, then the turn before it.
  for (let at = turns.length; at >= 0; at--) {
    from = at
    while (done.at(-1)?.turn === at) {
      const tool = done.pop()!
      if (!fits(tool)) break
      kept.tools.push(tool)
    }
    while (left >= 0 && (notes.at(-1 - kept.notes.length)?.turn ?? -1) === at) {
      const note = notes.at(-1 - kept.notes.length)!
      if (!fits(note)) break
      kept.notes.unshift(note)
    }
    const turn = turns[at - 1]
    if (left < 0 || turn === undefined || !fits(turn)) break
    kept.turns.push(turn)
  }
  kept.turns.reverse()
  const moved = <T extends { turn: number }>(one: T): T => ({ ...one, turn: Math.max(0, one.turn - from) })
  const places = new Set([...running, ...kept.tools])
  return {
    ...rest,
    ...(rest.greetingFrom === undefined ? {} : { greetingFrom: Math.max(0, rest.greetingFrom - from) }),
    turns: kept.turns,
    tools: tools.filter((tool) => places.has(tool)).map(moved),
    notes: kept.notes.map(moved),
  }
}
