import { test } from 'tap'
import { runTest, runVerdict } from '../../../../runtime/agent-tests/run-test.ts'
import type { AgentTest } from '../../../../runtime/agent-tests/schema.ts'
import { BOOKING_AGENT, depsWith, goodAgent, type Model, textOf } from './support/booking-agent.ts'

const BOOKING: AgentTest = {
  name: 'books a table although the caller changes his mind',
  caller: { say: ['A table for four on Sunday, please.', 'No, on Monday.', 'Yes.', 'Thank you, bye.'] },
  tools: { book: { when: { day: 'monday' }, returns: { ok: true }, after_ms: 800 } },
  expect: [
    { called: 'book', once: true, with: { day: 'monday', seats: 4 }, after_heard: '/four on monday.*right/i' },
    { never_called: 'cancel' },
    { heard: '/20 euros/' },
    { heard: 'is booked. It costs' },
    { never_heard: '/sunday is booked|card number/i' },
    { disposition: 'completed' },
    { ended_by: 'agent' },
    { latency_p95_ms: { max: 2_500 } },
    { silence_ms: { max: 4_000 } },
    { cost_usd: { max: 0.01 } },
  ],
}

test('an agent that does what it should passes by every fact', async (t) => {
  const result = await runTest(BOOKING, depsWith(goodAgent))
  t.same(
    result.facts.filter(({ verdict }) => verdict !== 'pass'),
    [],
  )
  t.equal(result.verdict, 'pass')
  t.match(
    result.record?.turns.map(({ role, text }) => `${role}: ${text}`),
    [
      'assistant: Good evening, this is Harbour House.',
      'user: A table for four on Sunday, please.',
      'assistant: A table for four on Sunday, is that right?',
      'user: No, on Monday.',
      'assistant: A table for four on Monday, is that right?',
      'user: Yes.',
      'assistant: Your table for four on Monday is booked. It costs 20 euros.',
      'user: Thank you, bye.',
      'assistant: Goodbye!',
    ],
  )
})

/** Each breaks the good agent in one way, and the fact that must notice. */
const MUTATIONS: readonly { how: string; fact: string; model: Model }[] = [
  {
    how: 'a wrong price',
    fact: 'heard /20 euros/',
    model: after((said) => ({ ...said, text: said.text?.replace('20', '25') })),
  },
  {
    how: 'a forgotten confirmation',
    fact: 'called book',
    model: (messages, clock) =>
      /monday/i.test(textOf(messages, 'user'))
        ? { call: { name: 'book', arguments: { day: 'monday', seats: 4 } } }
        : goodAgent(messages, clock),
  },
  {
    how: 'a tool called twice',
    fact: 'called book',
    model: after((said) => (said.call?.name === 'book' ? { ...said, calls: [said.call] } : said)),
  },
  {
    how: 'a tool called with another number',
    fact: 'called book',
    model: after((said) =>
      said.call?.name === 'book' ? { call: { name: 'book', arguments: { day: 'monday', seats: 3 } } } : said,
    ),
  },
  {
    how: 'a tool never called',
    fact: 'called book',
    model: after((said) => (said.call?.name === 'book' ? { text: 'Your table is booked. It costs 20 euros.' } : said)),
  },
  {
    how: 'an answer after six seconds',
    fact: 'latency_p95_ms',
    model: (messages, clock) => {
      clock.advance(6_000)
      return goodAgent(messages, clock)
    },
  },
  {
    how: 'a sentence that is cut off',
    fact: 'heard is booked. It costs',
    model: after((said) => ({ ...said, text: said.text?.replace(/ is booked.*/, ' is') })),
  },
  {
    how: 'a thing that must not be said',
    fact: 'never_heard',
    model: after((said) => ({ ...said, text: said.text?.replace('Goodbye', 'Tell me your card number. Goodbye') })),
  },
  {
    how: 'a tool that has nothing to do with it',
    fact: 'never_called cancel',
    model: after((said) =>
      said.call?.name === 'book' ? { ...said, calls: [{ name: 'cancel', arguments: {} }] } : said,
    ),
  },
  {
    how: 'a caller who is put through instead',
    fact: 'disposition',
    model: after((said) => (said.call?.name === 'bye' ? { call: { name: 'reception', arguments: {} } } : said)),
  },
  {
    how: 'an agent that does not hang up',
    fact: 'ended_by',
    model: after((said) => (said.call?.name === 'bye' ? { text: 'Goodbye!' } : said)),
  },
]

function after(change: (said: ReturnType<typeof plainly>) => ReturnType<typeof plainly>): Model {
  return (messages, clock) => change(plainly(messages, clock))
}
function plainly(...[messages, clock]: Parameters<Model>) {
  return goodAgent(messages, clock) as Exclude<ReturnType<Model>, Promise<unknown>>
}

for (const { how, fact, model } of MUTATIONS) {
  test(`${how} is caught by a fact`, async (t) => {
    const tools = { ...BOOKING.tools, book: { returns: { ok: true }, after_ms: 800 }, cancel: {} }
    const result = await runTest({ ...BOOKING, tools }, depsWith(model))
    t.equal(result.verdict, 'fail', JSON.stringify(result))
    const caught = result.facts.filter(({ verdict }) => verdict === 'fail').map((one) => one.fact)
    t.ok(
      caught.some((one) => one.startsWith(fact)),
      caught.join('; '),
    )
  })
}

test('a harness that skips an expectation, or judges none, never passes', async (t) => {
  const { facts } = await runTest(BOOKING, depsWith(goodAgent))
  t.equal(runVerdict(BOOKING, facts, []), 'pass')
  t.equal(runVerdict(BOOKING, facts.slice(1), []), 'error')
  t.equal(runVerdict({ expect: [], judge: [] }, [], []), 'error')
  t.equal(runVerdict({ ...BOOKING, judge: ['It is polite.'] }, facts, []), 'error')
})

test('a tool without a mock fails the run by name, and so does a call that no mock fits', async (t) => {
  const without = await runTest({ ...BOOKING, tools: {} }, depsWith(goodAgent))
  t.match(without, { verdict: 'error', error: /"book" has no mock/ })
  const unfit = await runTest({ ...BOOKING, tools: { book: { when: { day: 'sunday' } } } }, depsWith(goodAgent))
  t.match(unfit, { verdict: 'error', error: /No mock of the tool "book" fits \{"day":"monday","seats":4\}/ })
})

test('a tool may fail, and mocks answer by what was called before', async (t) => {
  const again: Model = (messages, clock) => {
    const returned = textOf(messages, 'tool_result')
    if (returned.includes('failed')) return { call: { name: 'book', arguments: { day: 'monday', seats: 4 } } }
    return goodAgent(messages, clock)
  }
  const book = [
    { state: { expect: { tried: true } }, returns: { ok: true } },
    { fails: 503, after_ms: 100, state: { set: { tried: true } } },
  ]
  const result = await runTest(
    { ...BOOKING, tools: { book }, expect: [{ called: 'book', times: 2 }, { heard: 'is booked' }] },
    depsWith(again),
  )
  t.equal(result.verdict, 'pass', JSON.stringify(result.facts))
  t.match(result.record?.tools, [{ error: /503/ }, { result: '{"ok":true}' }])
})

test('a caller who cuts in hears so much of the sentence and no more', async (t) => {
  const result = await runTest(
    {
      ...BOOKING,
      caller: { say: [{ say: 'A table for four on Monday please', barge_in_at: 600 }] },
      expect: [
        { heard: 'Good evening' },
        { never_heard: 'Harbour House' },
        { interruptions: { min: 1, max: 1 } },
        { ended_by: 'caller' },
      ],
    },
    depsWith(goodAgent),
  )
  t.same(
    result.facts.filter(({ verdict }) => verdict !== 'pass'),
    [],
  )
})

test('a line with a condition waits for it, and what was never said is told', async (t) => {
  const result = await runTest(
    {
      ...BOOKING,
      caller: {
        say: [
          { say: 'Yes.', when: '/monday, is that right/i' },
          'I want to eat.',
          'A table for four on Monday.',
          { say: 'Never.', when: 'Tuesday' },
        ],
      },
      expect: [{ called: 'book' }],
    },
    depsWith(goodAgent),
  )
  t.equal(result.verdict, 'pass', JSON.stringify(result))
  t.same(result.record?.unsaid, ['Never.'])
})

test('a silent caller is asked whether they are still there, and the call ends as idle', async (t) => {
  const result = await runTest(
    {
      ...BOOKING,
      caller: { say: [{ silence: 60_000 }] },
      expect: [{ heard: 'still there' }, { ended_by: 'idle' }],
    },
    depsWith(goodAgent),
  )
  t.equal(result.verdict, 'pass', JSON.stringify(result))
})

test('a caller hears a filler while a tool is slow, and the silence is shorter than the wait', async (t) => {
  const result = await runTest(
    {
      ...BOOKING,
      tools: { book: { after_ms: 8_000 } },
      expect: [{ latency_p95_ms: { min: 8_000 } }, { silence_ms: { max: 4_000 } }],
    },
    depsWith(goodAgent),
  )
  t.equal(result.verdict, 'pass', JSON.stringify(result))
})

test('keys are a turn of the caller', async (t) => {
  const model: Model = (messages) => ({
    text: textOf(messages, 'user').includes('pressed 4 2') ? 'Forty-two.' : 'What?',
  })
  const result = await runTest(
    { ...BOOKING, caller: { say: [{ keys: '42#' }] }, expect: [{ heard: 'Forty-two' }] },
    depsWith(model),
  )
  t.equal(result.verdict, 'pass', JSON.stringify(result))
})

test('a model that never answers ends the call as failed, and nothing passes', async (t) => {
  const down: Model = () => {
    throw new Error('down')
  }
  const result = await runTest({ ...BOOKING, expect: [{ disposition: 'failed' }, { heard: 'booked' }] }, depsWith(down))
  t.equal(result.verdict, 'fail')
  t.match(result.record, { disposition: 'failed', endedBy: 'error' })
})

test('a test that never ends has failed by its deadline', async (t) => {
  const never: Model = () => new Promise(() => {})
  const result = await runTest({ ...BOOKING, timeout_s: 1 }, depsWith(never))
  t.match(result, { verdict: 'error', error: 'The test did not end within 1 s' })
})

test('what cannot be judged is unsure and no pass', async (t) => {
  const unknown = { llmUsd: null, sttUsd: 0, ttsUsd: 0 }
  const { prices } = depsWith(goodAgent)
  const result = await runTest(
    { ...BOOKING, expect: [{ cost_usd: { max: 1 } }, { heard: '/^(a+)+$/' }] },
    depsWith(goodAgent, {
      prices: { ...prices, costOf: () => unknown },
      agent: { ...BOOKING_AGENT, firstMessage: `${'a'.repeat(60)}!` },
    }),
  )
  t.equal(result.verdict, 'unsure', JSON.stringify(result.facts))
})

test('two hundred scenarios of six turns run within a minute', async (t) => {
  const say = ['On Sunday.', 'No.', 'On Monday.', 'Well.', 'Yes.', 'Bye.']
  const started = performance.now()
  for (let i = 0; i < 200; i++) {
    const result = await runTest(
      { ...BOOKING, caller: { say }, expect: [{ called: 'book', once: true }] },
      depsWith(goodAgent),
    )
    if (result.verdict !== 'pass') t.fail(JSON.stringify(result))
  }
  const seconds = (performance.now() - started) / 1_000
  t.comment(`${seconds.toFixed(1)} s, ${Math.round(1_200 / seconds)} turns a second`)
  t.ok(seconds < 60, `${seconds} s`)
})

test('the judge is asked once a sentence, and nonsense, silence and a verdict without a turn are unsure', async (t) => {
  const answers: Record<string, string> = {
    'It is polite.': '{"verdict": "pass", "turn": 2, "reason": "It greets."}',
    'It is rude.': '{"verdict": "fail", "turn": 2, "reason": "It is not."}',
    'It is mad.': 'I think so!',
    'It is quick.': '{"verdict": "pass"}',
    'It is nothing.': '',
  }
  const judging: Model = (messages, clock) => {
    const asked = textOf(messages, 'user')
    const sentence = Object.keys(answers).find((one) => asked.endsWith(`Sentence: ${one}`))
    return sentence === undefined ? goodAgent(messages, clock) : { text: answers[sentence] ?? '' }
  }
  const verdicts = async (sentences: string[]) => {
    const result = await runTest({ ...BOOKING, judge: sentences }, depsWith(judging))
    return [result.verdict, ...result.judged.map(({ verdict }) => verdict)]
  }
  t.same(await verdicts(['It is polite.']), ['pass', 'pass'])
  t.same(await verdicts(['It is polite.', 'It is rude.']), ['fail', 'pass', 'fail'])
  t.same(await verdicts(['It is mad.']), ['unsure', 'unsure'])
  t.same(await verdicts(['It is quick.', 'It is nothing.']), ['unsure', 'unsure', 'unsure'])
  const { judged } = await runTest({ ...BOOKING, judge: ['It is polite.'] }, depsWith(judging))
  t.match(judged, [{ model: 'test/', promptVersion: 1, turn: 2 }])
})

test('a simulated caller says what its model says and hangs up when it has what it wants', async (t) => {
  const lines = ['A table for four on Monday, please.', 'Yes.', 'Thank you. [hang up]']
  const both: Model = (messages, clock) => {
    const first = messages[0] as { content: string }
    if (!first.content.includes('You play the caller')) return goodAgent(messages, clock)
    t.match(first.content, /- seats: 4/)
    return { text: lines.shift() ?? '[hang up]' }
  }
  const result = await runTest(
    {
      ...BOOKING,
      caller: { persona: 'A busy man.', goal: 'A table on Monday.', knows: { seats: 4 } },
      expect: [{ called: 'book', once: true }, { ended_by: 'caller' }, { turns: { min: 3, max: 3 } }],
    },
    depsWith(both, { agent: BOOKING_AGENT }),
  )
  t.equal(result.verdict, 'pass', JSON.stringify(result))
})
