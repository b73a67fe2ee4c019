import t from 'tap'
import { chooseVersion, type RolloutFacts, type RolloutPlan } from '../../../../runtime/rollouts/choose-version.ts'

const PLAN: RolloutPlan = {
  rules: [],
  split: [
    { version: 1, weight: 0.8 },
    { version: 2, weight: 0.2 },
  ],
  sticky: 'contact',
  seed: 's',
}
const call = (facts: Partial<RolloutFacts> = {}): RolloutFacts => ({
  ...{ callId: 'c', channel: 'phone', variables: {} },
  ...facts,
})
const number = (n: number) => `+1415555${String(n).padStart(4, '0')}`

t.test('calls are split by the weights', async (t) => {
  const all = Array.from({ length: 5_000 }, (_, n) => chooseVersion(PLAN, call({ contact: number(n) })).version)
  const share = all.filter((version) => version === 2).length / all.length
  t.ok(Math.abs(share - 0.2) < 0.02, `${share}`)
})

t.test('a contact gets the same version over calls and channels, and stays there while a share grows', async (t) => {
  const grown = {
    ...PLAN,
    split: [
      { version: 1, weight: 0.5 },
      { version: 2, weight: 0.5 },
    ],
  }
  for (let n = 0; n < 500; n++) {
    const contact = number(n)
    const { version } = chooseVersion(PLAN, call({ contact, callId: 'a' }))
    t.equal(chooseVersion(PLAN, call({ contact, callId: 'b', channel: 'chat' })).version, version)
    if (version === 2) t.equal(chooseVersion(grown, call({ contact })).version, 2)
  }
  const versions = new Set(
    Array.from({ length: 100 }, (_, n) => {
      return chooseVersion({ ...PLAN, sticky: 'call' }, call({ contact: number(1), callId: `${n}` })).version
    }),
  )
  t.same([...versions].sort(), [1, 2], 'by call it changes')
})

t.test('the first rule that holds decides, and what it decides is not compared', async (t) => {
  const rule = (attribute: string, operator: 'is' | 'is_not' | 'starts_with', ...values: string[]) => ({
    ...{ attribute, operator, values, version: 7 },
  })
  const matches = (one: ReturnType<typeof rule>, facts: Partial<RolloutFacts>) =>
    chooseVersion({ ...PLAN, rules: [one] }, call(facts)).version === 7
  t.ok(matches(rule('called_number', 'starts_with', '+49'), { calledNumber: '+4930123456' }))
  t.ok(matches(rule('country', 'is', 'DE', 'AT'), { country: 'AT' }))
  t.notOk(matches(rule('country', 'is', 'DE'), {}))
  t.ok(matches(rule('country', 'is_not', 'DE'), {}))
  t.ok(matches(rule('channel', 'is', 'chat'), { channel: 'chat' }))
  t.ok(matches(rule('campaign', 'is', 'renewals'), { campaign: 'renewals' }))
  t.ok(matches(rule('variable:tier', 'is', 'gold'), { variables: { tier: 'gold' } }))
  t.notOk(matches(rule('variable:constructor', 'starts_with', ''), {}))
  t.notOk(matches(rule('toString', 'starts_with', ''), {}))
  t.same(chooseVersion({ ...PLAN, rules: [rule('channel', 'is', 'phone')] }, call()), { version: 7, bySplit: false })
})
