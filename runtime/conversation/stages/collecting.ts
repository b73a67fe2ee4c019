import type { EventOf } from '../../call/log/events.ts'
import type { CollectItem } from '../../call/types/collect-item.ts'
import {
  answerCollecting,
  beginCollecting,
  type CollectResult,
  type CollectState,
  type CollectStep,
  keyCollecting,
  keysWanted,
  repeatCollecting,
} from '../collecting/collecting.ts'
import type { ReadingContext } from '../collecting/reading.ts'
import { readingContext } from '../collecting/reading-context.ts'
import type { Order, Signal, SpokenTurn } from './signal.ts'
import { type ConversationStage, consume, emit, type StageContext, type StageResult } from './stage.ts'

/** Stands in the log for what is secret. */
const MASK = '***'
/** Keys of unknown number are complete after such a pause. */
const KEY_PAUSE_MS = 3_000
/** A tick that comes later counts as so much: after a machine stood still, keys that were pressed meanwhile are read behind it. */
const MOST_TICK_MS = 200
const MAX_KEYS = 64

interface Wanted {
  readonly id: string
  readonly item: CollectItem
  /** A fixed step of a procedure wants it, not the model. */
  readonly insists: boolean
}

/**
 * Collects what the language model asked for by a tool: asks, listens with patience, reads back, takes corrections and keys. Turns of the
 * caller are its own meanwhile; the model goes on when all that it wanted is there, or was given up.
 */
export function collecting({ open, tag, nowMs: wallMs }: StageContext): ConversationStage {
  const { agent, resume } = open
  const items = new Map((agent.collect ?? []).map((item) => [item.name, item]))
  const wanted: Wanted[] = []
  let current: { id: string; state: CollectState } | undefined
  let keys: { digits: string; inputs: number[]; quietMs: number } | undefined
  let tickedMs = 0
  /** What another worker was collecting. */
  let before = resume?.collecting

  const context = (): ReadingContext => readingContext(agent, tag(), wallMs())
  const say = (text: string): Order[] =>
    text === '' ? [] : [{ type: 'say', text, purpose: 'collect', interruptible: true, remembered: true }]
  const mode = (): Order => ({ type: 'collecting', state: current?.state, context: context() })
  const told = (): Signal => {
    const { id, state } = current!
    const { item, phase, attempts, reading } = state
    const known = item.secret || reading === undefined ? {} : { value: reading.value, confidence: reading.confidence }
    return {
      type: 'tell',
      event: { type: 'collecting', id, name: item.name, secret: item.secret, phase, attempts, ...known },
    }
  }

  const begin = ({ id, item, insists }: Wanted): Signal[] => follow(id, beginCollecting(item, context(), insists))
  const follow = (id: string, step: CollectStep): Signal[] => {
    keys = undefined
    if (step.type === 'say') {
      current = { id, state: step.state }
      return [told(), mode(), ...say(step.text)]
    }
    const { item, insists } = current!.state
    current = undefined
    const next = wanted.shift()
    const done = finish(id, item, step.result, next === undefined && !insists)
    return [...done, ...(next === undefined ? [mode(), { type: 'awaited' } as const] : begin(next))]
  }
  const finish = (id: string, item: CollectItem, result: CollectResult, continues: boolean): Signal[] => {
    const { status, attempts } = result
    const value = result.status === 'collected' ? { value: result.value, confidence: result.confidence } : undefined
    const shown = item.secret ? {} : { ...value, heard: result.heard }
    const event: EventOf<'collected'> = {
      type: 'collected',
      id,
      name: item.name,
      status,
      attempts,
      secret: item.secret,
      ...shown,
    }
    const secret = item.secret && value !== undefined ? { secret: { name: item.name, value: value.value } } : {}
    return [{ type: 'collected', event, continues, ...secret }]
  }

  const onTurn = (turn: SpokenTurn, groups: string): StageResult => {
    const { id, state } = current!
    const { secret } = state.item
    const said: Signal = { type: 'caller_turn', turn: secret ? { ...turn, text: MASK } : turn }
    const remembered: Signal[] = secret ? [] : [{ type: 'note', role: 'user', text: turn.text }]
    const step = answerCollecting(state, groups, context(), turn.inputs === undefined ? 'spoken' : 'typed')
    return consume(said, ...remembered, { type: 'interrupt', force: false }, ...follow(id, step))
  }
  const onKey = (digit: string, seq: number, nowMs: number): StageResult => {
    const { digits = '', inputs = [] } = keys ?? {}
    const more = { digits: digit === '#' ? digits : digits + digit, inputs: [...inputs, seq], quietMs: 0 }
    keys = more
    const length = keysWanted(current!.state.item) ?? MAX_KEYS
    const cut: Signal = { type: 'interrupt', force: false }
    return digit === '#' || more.digits.length >= length ? consume(cut, ...keyed(nowMs)) : consume(cut)
  }
  const keyed = (nowMs: number): Signal[] => {
    const { digits, inputs } = keys!
    const { id, state } = current!
    keys = undefined
    const shown = state.item.secret ? MASK : [...digits].join(' ')
    const text = `[The caller pressed ${shown} on the keypad]`
    const turn: SpokenTurn = { text, startMs: nowMs, endMs: nowMs, inputs }
    return [{ type: 'caller_turn', turn }, ...follow(id, keyCollecting(state, digits, context()))]
  }
  /** What another worker was collecting is asked for, or read back, again. */
  const goOn = (): StageResult | undefined => {
    const item = before && items.get(before.name)
    if (before === undefined || item === undefined) return undefined
    const { id, phase, attempts, value, confidence = 0 } = before
    // Of a fixed step, which says itself that it wants it.
    const insists = id.startsWith(`${resume?.procedure?.id}.`)
    before = undefined
    const reading = value === undefined ? {} : { reading: { value, confidence, complete: false } }
    return emit(
      ...follow(id, repeatCollecting({ item, phase, attempts, insists, heard: '', unclear: 0, ...reading }, context())),
    )
  }
  /** The caller is somebody else's now. */
  const leave = (): Signal[] => {
    wanted.length = 0
    if (current === undefined) return []
    const { id, state } = current
    current = undefined
    const { item, attempts } = state
    return [...finish(id, item, { status: 'not_answered', heard: '', attempts }, false), mode()]
  }

  return {
    name: 'collecting',
    on(report, state, nowMs) {
      const isSecret = current?.state.item.secret === true
      switch (report.type) {
        case 'begin':
        case 'greeted':
          return state.muted || state.takenOver ? undefined : goOn()
        case 'collect': {
          const item = items.get(report.name)
          // Another worker was collecting it for the step that is made again.
          if (item === undefined || state.takenOver || state.muted || current?.id === report.id) return undefined
          const one = { id: report.id, item, insists: report.insists === true }
          if (current === undefined) return emit(...begin(one))
          wanted.push(one)
          return undefined
        }
        case 'turn_over':
          return current === undefined ? undefined : onTurn(report.turn, report.groups ?? report.turn.text)
        case 'caller_turn':
          // What no stage took as an answer: words that were cut off by the end of the call.
          if (!isSecret || report.turn.text === MASK || report.turn.inputs !== undefined) return undefined
          return consume({ type: 'caller_turn', turn: { ...report.turn, text: MASK } })
        case 'heard_words':
          return isSecret ? consume() : undefined
        case 'input':
          if (current === undefined || report.event.type !== 'key') return undefined
          return onKey(report.event.digit, report.event.seq, nowMs)
        case 'tick': {
          const passedMs = Math.min(nowMs - tickedMs, MOST_TICK_MS)
          tickedMs = nowMs
          if (keys === undefined || current === undefined) return undefined
          keys.quietMs += passedMs
          return keys.quietMs < KEY_PAUSE_MS ? undefined : emit(...keyed(nowMs))
        }
        case 'taken_over':
        case 'muted':
          return report.type === 'taken_over' && !report.on ? undefined : emit(...leave())
        default:
          return undefined
      }
    },
  }
}
