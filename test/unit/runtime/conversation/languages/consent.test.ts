import t from 'tap'
import { keyedConsent, readConsent } from '../../../../../runtime/conversation/languages/consent.ts'
import { LANGUAGES, languageOf } from '../../../../../runtime/conversation/languages/index.ts'
import { CONSENT, utterances } from './support/consent-utterances.ts'

/** Of the held-out utterances so many are read right at least. */
const MIN_SHARE = 0.97

const read = (text: string, code: string) => readConsent(text, languageOf(code), LANGUAGES)

for (const { code } of LANGUAGES) {
  const table = CONSENT[code]!
  t.test(`${code}: a yes, a no, a question not heard, and what is none of them`, async (t) => {
    const classes = { given: table.yes, refused: table.no, not_understood: table.unclear, undefined: table.neither }
    let count = 0
    for (const [answer, texts] of Object.entries(classes)) {
      for (const text of utterances(texts)) {
        count++
        // What says neither may as well be asked again, or taken for a no: all that matters is that it is no yes.
        const got = read(text, code)
        if (answer === 'undefined') t.not(got, 'given', `${code}: ${text}`)
        else t.equal(String(got), answer, `${code}: ${text}`)
      }
    }
    t.ok(count >= 60, `${count} utterances`)
  })
}

t.test('utterances that the lists were not made from', async (t) => {
  let good = 0
  let all = 0
  for (const { code } of LANGUAGES) {
    const { heldYes, heldNo, heldNeither } = CONSENT[code]!
    const classes: [string, (answer: string) => boolean][] = [
      [heldYes, (answer) => answer === 'given'],
      [heldNo, (answer) => answer === 'refused'],
      [heldNeither, (answer) => answer !== 'given'],
    ]
    for (const [texts, wanted] of classes) {
      for (const text of utterances(texts)) {
        const answer = String(read(text, code))
        all++
        if (wanted(answer)) good++
        else t.comment(`${code}: "${text}" is ${answer}`)
        if (texts !== heldYes) t.not(answer, 'given', `${code}: ${text}`)
      }
    }
  }
  t.comment(`${good} of ${all}`)
  t.ok(good / all >= MIN_SHARE, `${good} of ${all}`)
})

t.test('no yes of one language is consent in another, unless it is a whole answer that means it in all', async (t) => {
  const said = LANGUAGES.flatMap(({ code }) => [CONSENT[code]!.no, CONSENT[code]!.neither, CONSENT[code]!.unclear])
  for (const { code } of LANGUAGES) {
    for (const text of said.flatMap(utterances)) {
      // What means no there may be a word of yes here: only what the agent was not asked in counts as foreign.
      if (utterances(CONSENT[code]!.yes).some((yes) => yes.replace(/[.!?।。]/g, '') === text.replace(/[.!?।。]/g, '')))
        continue
      t.not(read(text, code), 'given', `${code}: ${text}`)
    }
  }
  t.equal(read('Yes, please', 'de'), 'given')
  t.equal(read('Oui', 'de'), 'given')
  t.equal(read('Sí', 'en'), 'given')
  t.equal(read('Evet', 'ko'), 'given')
  for (const text of ['si', 'no', 'mai', 'pode', 'tak', 'no domingo', 'im Mai'])
    t.equal(read(text, 'en') === 'given', false)
  t.equal(read('no domingo', 'pt'), undefined)
})

t.test('1 is yes, 2 is no', async (t) => {
  t.equal(keyedConsent('1'), 'given')
  t.equal(keyedConsent('2'), 'refused')
  t.equal(keyedConsent('3'), undefined)
})
