import fc from 'fast-check'
import t from 'tap'
import { type Act, type Outcome, type Plan, play } from './support/cut-call.ts'

/** Words of the notice and of the question for consent: half of them heard is not heard, so they are said again as a whole. */
const NOTICE = 'n1 n2 n3'
const QUESTION = 'c1 c2 c3'
const GREETING = 'welcome to the harbour bistro'
const isAgain = (word: string): boolean => /^[nc]\d$/.test(word)

/** What a call comes to, in whatever pieces it was said. */
function sumOf({ heard, state, tools }: Outcome) {
  const said: string[] = []
  for (const { role, text } of state.turns) {
    if (role === 'user') said.push(`> ${text}`)
    else said[said.length - 1] = `${said.at(-1) ?? ''} ${text}`.trim()
  }
  return {
    heard: heard.filter((word) => !isAgain(word)).join(' '),
    said: said
      .map((one) =>
        one
          .split(' ')
          .filter((word) => !isAgain(word))
          .join(' '),
      )
      .filter((one) => one !== ''),
    consent: state.consent,
    noticed: heard.join(' ').includes(NOTICE),
    asked: heard.join(' ').includes(QUESTION),
    tools,
    waiting: state.waiting.length,
    greeting: state.greeting,
  }
}

const say = (text: string): Act => ({ does: 'says', text })
const type = (text: string): Act => ({ does: 'types', text })
const key = (text: string): Act => ({ does: 'keys', text })

const CALLS: Record<string, Omit<Plan, 'deaths'>> = {
  'a greeting, and questions asked in every way': {
    agent: { firstMessage: GREETING },
    acts: [say('one'), type('two'), key('4#'), say('book three'), type('book four')],
  },
  'a notice, and a consent that is spoken': {
    agent: { recordingNotice: NOTICE, consentMessage: QUESTION, firstMessage: GREETING },
    acts: [say('yes'), say('one')],
  },
  'a consent that is keyed': {
    agent: { consentMessage: QUESTION, firstMessage: GREETING },
    acts: [key('1'), type('one')],
  },
}

for (const [name, call] of Object.entries(CALLS)) {
  t.test(`${name}: cut after any event, it comes to the same`, async (t) => {
    const uncut = await play({ ...call, deaths: [] })
    const expected = sumOf(uncut)
    t.ok(uncut.log.length > 20)
    for (let at = 0; at < uncut.log.length; at++) {
      const cut = await play({ ...call, deaths: [at] })
      const after = `after ${at}, ${uncut.log[at]?.type}`
      t.equal(cut.log.filter((event) => event.type === 'worker_lost').length, 1, `${after}: a worker died`)
      t.strictSame(sumOf(cut), expected, after)
    }
  })
}

const act = fc.oneof(
  fc.nat(99).map((n) => say(`ask ${n}`)),
  fc.nat(99).map((n) => say(`book ${n}`)),
  fc.nat(99).map((n) => type(`book ${n}`)),
  fc.nat(99).map((n) => type(`ask ${n}`)),
  fc.nat(99).map((n) => key(`${n}#`)),
)

t.test('however often the workers of any call die, it comes to the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(act, { minLength: 1, maxLength: 4, selector: ({ text }) => text }),
      fc.array(fc.nat(25), { minLength: 1, maxLength: 5 }),
      async (acts, deaths) => {
        const call = { agent: { firstMessage: GREETING }, acts }
        const [uncut, cut] = [sumOf(await play({ ...call, deaths: [] })), sumOf(await play({ ...call, deaths }))]
        if (JSON.stringify(cut) !== JSON.stringify(uncut))
          throw new Error(`${JSON.stringify(cut)} for ${JSON.stringify(uncut)}`)
      },
    ),
    { numRuns: 100 },
  )
})
