import { test } from 'tap'
import {
  answerCollecting,
  beginCollecting,
  type CollectResult,
  type CollectState,
  type CollectStep,
  collectPauseMs,
} from '../../../../../runtime/conversation/collecting/collecting.ts'
import { spokenFormsOf } from '../../../../../runtime/conversation/collecting/languages/index.ts'
import { type SpokenItem, spokenItems } from './spoken-items.ts'

/** The longest pause of callers between the groups of what they dictate. */
const PAUSE_MS = 1_500
const NOW_MS = Date.UTC(2026, 10, 28, 14)

interface Outcome {
  readonly item: SpokenItem
  readonly result: CollectResult | undefined
  /** The caller was cut off between two groups. */
  readonly cutOff: boolean
  readonly questions: number
}

/** One item as a caller says it: with pauses, a correction where there is one, and a yes. */
function collect(item: SpokenItem): Outcome {
  const forms = spokenFormsOf(item.code)
  const context = { forms, country: forms.country, timeZone: 'Europe/Berlin', nowMs: NOW_MS, tag: item.code }
  let step: CollectStep = beginCollecting(
    { name: 'value', type: item.type, spellBack: true, secret: false, attempts: 3 },
    context,
  )
  let cutOff = false
  let questions = 0
  const says = (state: CollectState, groups: readonly string[]): CollectStep => {
    for (const [i] of groups.slice(1).entries()) {
      const silenceMs = collectPauseMs(state, groups.slice(0, i + 1).join(', '), context)
      cutOff ||= silenceMs === undefined || silenceMs <= PAUSE_MS
    }
    return answerCollecting(state, groups.join(', '), context)
  }
  let corrected = item.correction === undefined
  for (let turns = 0; step.type === 'say' && turns < 8; turns++) {
    const { state }: { state: CollectState } = step
    if (state.phase === 'asking') {
      questions++
      step = says(state, item.groups)
    } else if (state.reading?.value === item.value) step = says(state, [item.yes])
    else if (!corrected && item.correction !== undefined) {
      corrected = true
      step = says(state, [item.correction])
    } else {
      // What was read back is wrong: the caller says so, and is asked again.
      step = says(state, [item.correction?.split(/[ ,]/)[0] ?? 'no'])
    }
  }
  return { item, result: step.type === 'done' ? step.result : undefined, cutOff, questions }
}

test('three hundred spoken items with pauses, half of them corrected: none is cut off, 97 of a hundred are right', (t) => {
  const items = spokenItems()
  t.equal(items.length, 300)
  t.equal(items.filter(({ correction }) => correction !== undefined).length, 150)
  const outcomes = items.map(collect)
  const wrong = outcomes.filter(({ item, result }) => result?.status !== 'collected' || result.value !== item.value)
  const questions = outcomes.map((one) => one.questions).sort((a, b) => a - b)
  const median = questions[questions.length / 2]!
  const mean = questions.reduce((sum, one) => sum + one, 0) / questions.length
  t.comment(`${300 - wrong.length} of 300 right, median questions ${median}, mean ${mean.toFixed(2)}`)
  t.same(
    outcomes.filter(({ cutOff }) => cutOff).map(({ item }) => item.groups),
    [],
    'cut off',
  )
  const told = wrong.map(
    ({ item, result }) =>
      `${item.code} ${item.groups.join(' | ')} (${item.correction}) ${item.value} → ${JSON.stringify(result)}`,
  )
  t.ok(wrong.length <= 9, told.join('\n'))
  for (const one of told) t.comment(one)
  t.ok(median <= 1.3)
  t.end()
})
