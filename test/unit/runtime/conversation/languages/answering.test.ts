import t from 'tap'
import { AnswerDetector } from '../../../../../runtime/conversation/hearing/answer-detector.ts'
import { wantsNoCalls } from '../../../../../runtime/conversation/languages/do-not-call.ts'
import { LANGUAGES } from '../../../../../runtime/conversation/languages/index.ts'
import { ANSWERING } from './support/answering-utterances.ts'
import { utterances } from './support/consent-utterances.ts'
import { HELD_OUT } from './support/held-out-greetings.ts'

/** The verdict on words of a greeting of three seconds. */
function verdict(text: string): string {
  const detector = new AnswerDetector(0)
  detector.speechStarted(400)
  return String(detector.words(text, 3_400) ?? detector.verdict)
}

for (const { code } of LANGUAGES) {
  const table = ANSWERING[code]!
  t.test(`${code}: who picks up is told from the words`, async (t) => {
    for (const text of utterances(table.machine)) t.equal(verdict(text), 'machine', `${code}: ${text}`)
    for (const text of utterances(table.people))
      t.notMatch(verdict(text), /machine|mailbox|ivr|fax/, `${code}: ${text}`)
    for (const text of utterances(table.screening)) t.match(verdict(text), /screening/, `${code}: ${text}`)
    for (const text of utterances(table.menu)) t.equal(verdict(text), 'ivr', `${code}: ${text}`)
  })

  t.test(`${code}: a wish not to be called again is one, and nothing else`, async (t) => {
    for (const text of utterances(table.doNotCall)) t.ok(wantsNoCalls(text), `${code}: ${text}`)
    for (const text of [table.noWish, table.people, table.machine, table.menu].flatMap(utterances)) {
      t.notOk(wantsNoCalls(text), `${code}: ${text}`)
    }
  })
}

t.test(
  'of greetings gathered apart, 97 % of machines are known for one, and 1 % of people taken for one at most',
  async (t) => {
    let [machines, known, people, mistaken] = [0, 0, 0, 0]
    for (const { code } of LANGUAGES) {
      const table = HELD_OUT[code]!
      for (const text of utterances(table.machine)) {
        machines++
        if (/machine|mailbox/.test(verdict(text))) known++
        else t.comment(`${code}: "${text}" is ${verdict(text)}`)
      }
      for (const text of utterances(table.people)) {
        people++
        if (!/machine|mailbox|ivr|fax/.test(verdict(text))) continue
        mistaken++
        t.comment(`${code}: "${text}" is ${verdict(text)}`)
      }
    }
    t.ok(known / machines >= 0.97, `${known} of ${machines} machines`)
    t.ok(mistaken / people <= 0.01, `${mistaken} of ${people} people`)
  },
)
