import { type Test, test } from 'tap'
import { RATE_HZ } from '../support/harness.ts'
import { speech } from '../support/speech.ts'
import { MOMENTS, type Moment, Watch } from './moments.ts'
import { DELIVERY_ANSWER, realtimeCall, WEATHER, WHERE_ANSWER } from './setup.ts'
import { DELIVERY, realtimeWorld, VENDORS, type Vendor, WHERE } from './support.ts'

const TOOL = 'Please use the tool.'
/** A question by its moment: it is asked before that passes, right after it, or once all that follows from it at once is done. */
const TYPED = ['before', 'at', 'after'] as const
/** A spoken one takes a second: its turn is over before the moment passes, or it begins with the moment. */
const SPOKEN = ['before', 'from'] as const
/**
 * `REALTIME_MOMENTS=all`, on a quiet machine: each moment in each order, typed and spoken. Else each moment is typed: a model hears words
 * as they sound, and a machine that stands still puts a gap into them.
 */
const ALL = process.env.REALTIME_MOMENTS === 'all'
/** Calls side by side. */
const AT_ONCE = 6

interface Question {
  vendor: Vendor
  moment: Moment
  kind: 'typed' | 'spoken'
  order: (typeof TYPED)[number] | (typeof SPOKEN)[number]
}

async function isAnsweredOnce(t: Test, { vendor, moment, kind, order }: Question): Promise<void> {
  const one: { ask?: () => void; turnOver?: () => void } = {}
  const watch = new Watch(moment, (goOn) => {
    if (kind === 'spoken' && order === 'before') one.turnOver = goOn
    if (order === 'at' || order === 'from') goOn()
    if (order === 'after') setImmediate(() => one.ask?.())
    else one.ask?.()
    if (order === 'after' || (kind === 'typed' && order === 'before')) goOn()
  })
  const world = await realtimeWorld(t, { vendor, provider: watch.provider })
  const { port, type, say } = await realtimeCall(t, world, {
    agent: { tools: [WEATHER] },
    utterances: [DELIVERY],
    prepare: (port) => {
      port.runTool = () => {
        const returned = Promise.withResolvers<string>()
        const passing = (moment: Moment, go: () => void) => (watch.at(moment) ?? ((goOn) => goOn()))(go)
        passing('the tool begins', () => passing('the tool returns', () => returned.resolve('Sunny.')))
        return returned.promise
      }
    },
  })
  one.ask = kind === 'typed' ? () => type(DELIVERY) : () => void say(speech(DELIVERY, RATE_HZ))
  type(TOOL)
  await port.until('the question is taken', () => port.said.includes(`user: ${DELIVERY}`))
  one.turnOver?.()
  await port.until('the answer', () => port.said.includes(DELIVERY_ANSWER))
  type(WHERE)
  await port.until('the next answer', () => port.said.includes(WHERE_ANSWER))
  const answers = port.said.filter((said) => said === DELIVERY_ANSWER || said === WHERE_ANSWER)
  t.strictSame(answers, [DELIVERY_ANSWER, WHERE_ANSWER], port.said.join(' '))
  t.strictSame(
    world.held().flatMap(({ role, text }) => (role === 'user' && !text.includes('Note for you') ? [text] : [])),
    [TOOL, DELIVERY, WHERE],
  )
  t.strictSame(world.refused, [])
  t.strictSame(port.faults, [])
}

const questions = VENDORS.flatMap((vendor) =>
  MOMENTS.flatMap((moment, i): Question[] => {
    const typed = ALL ? TYPED : [TYPED[(i + 1) % TYPED.length]!]
    const spoken = ALL ? SPOKEN : []
    return [
      ...typed.map((order) => ({ vendor, moment, kind: 'typed' as const, order })),
      ...spoken.map((order) => ({ vendor, moment, kind: 'spoken' as const, order })),
    ]
  }),
)

test('a caller asks on while a tool is called: each question is answered, once', { jobs: AT_ONCE }, async (t) => {
  const done = questions.map((question) => {
    const { vendor, moment, kind, order } = question
    return t.test(`${vendor}, ${kind} ${order}: ${moment}`, { buffered: true }, (t) => isAnsweredOnce(t, question))
  })
  await Promise.all(done)
})
