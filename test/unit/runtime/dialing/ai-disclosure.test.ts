import t from 'tap'
import { disclosureOf } from '../../../../runtime/dialing/ai-disclosure.ts'

const GERMAN = '+493012345678'
const AMERICAN = '+14155550123'

t.test('by default an AI says so on telephone calls with a number of a country whose law wants it', async (t) => {
  const auto = (numbers: string[], alreadySays = false) => disclosureOf('auto', { numbers, alreadySays })
  t.equal(auto([GERMAN, AMERICAN]), 'after')
  t.equal(auto([AMERICAN, '+33142685300']), 'after', 'whichever side it is on')
  for (const number of [
    '+390612345678',
    '+34912345678',
    '+351212345678',
    '+31201234567',
    '+48221234567',
    '+82212345678',
  ]) {
    t.equal(auto([AMERICAN, number]), 'after', number)
  }
  t.equal(auto([AMERICAN, '+442079460018']), undefined)
  t.equal(auto([]), undefined, 'a web session shows it as text')
  t.equal(auto(['anonymous', 'agent']), undefined)
  t.equal(auto([GERMAN], true), undefined, 'an agent whose first message says it is left alone')
})

t.test('an agent that is set to say it always does, and never where it is off', async (t) => {
  for (const numbers of [[], [AMERICAN], [GERMAN]]) {
    t.equal(disclosureOf('before', { numbers, alreadySays: true }), 'before')
    t.equal(disclosureOf('after', { numbers, alreadySays: true }), 'after')
    t.equal(disclosureOf('off', { numbers, alreadySays: false }), undefined)
  }
})
