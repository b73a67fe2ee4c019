import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { AnswerDetector } from '../../../../../runtime/conversation/hearing/answer-detector.ts'
import { isBackchannel } from '../../../../../runtime/conversation/hearing/barge-in.ts'
import { endingOf } from '../../../../../runtime/conversation/hearing/end-of-turn.ts'
import { readConsent } from '../../../../../runtime/conversation/languages/consent.ts'
import { wantsNoCalls } from '../../../../../runtime/conversation/languages/do-not-call.ts'
import { LANGUAGES } from '../../../../../runtime/conversation/languages/index.ts'
import type { Language } from '../../../../../runtime/conversation/languages/language.ts'

/** What callers and callees say, apart from what the lists were first made from: support/heard, a file a language. */

/** Of each kind so many are understood at least, in each language. */
const MIN_SHARE = 0.97
/** So many there are of each kind in each language at least. */
const LEAST_OF_KIND = 20

interface Kind {
  readonly what: string
  /** What it is taken for. */
  read(text: string, language: Language): string
  readonly isRight: (read: string) => boolean
  /** Not one may be taken wrongly. */
  readonly always?: boolean
}

const circumstances = { asked: '', punctuates: true }
const ending = (text: string, language: Language): string => endingOf(text, circumstances, language)
const consent = (text: string, language: Language): string => String(readConsent(text, language, LANGUAGES))
const channel = (text: string, language: Language): string => (isBackchannel(text, language) ? 'backchannel' : 'turn')
const wish = (text: string): string => (wantsNoCalls(text) ? 'wish' : 'none')

/** The verdict on words of a greeting of three seconds. */
function answerer(text: string): string {
  const detector = new AnswerDetector(0)
  detector.speechStarted(400)
  return String(detector.words(text, 3_400) ?? detector.verdict)
}

const is =
  (...wanted: string[]) =>
  (read: string) =>
    wanted.includes(read)
const isNot =
  (...unwanted: string[]) =>
  (read: string) =>
    !unwanted.includes(read)

const KINDS: Readonly<Record<string, Kind>> = {
  open: { what: 'sentences that go on', read: ending, isRight: is('open', 'loose', 'dictated') },
  complete: { what: 'sentences that are complete', read: ending, isRight: isNot('open'), always: true },
  hold: { what: 'hesitations', read: ending, isRight: is('open', 'loose') },
  nod: { what: 'words that say "go on"', read: channel, isRight: is('backchannel') },
  stop: { what: 'words that interrupt', read: channel, isRight: is('turn'), always: true },
  yes: { what: 'consent', read: consent, isRight: is('given') },
  no: { what: 'refusals', read: consent, isRight: is('refused') },
  unclear: { what: 'questions that were not understood', read: consent, isRight: is('not_understood') },
  neither: { what: 'answers that are no consent', read: consent, isRight: isNot('given'), always: true },
  mailbox: { what: 'greetings of mailboxes', read: answerer, isRight: is('machine', 'mailbox_full') },
  closed: { what: 'announcements of closed offices', read: answerer, isRight: is('machine', 'mailbox_full') },
  screening: { what: 'assistants that ask who is calling', read: answerer, isRight: is('screening') },
  menu: { what: 'menus and queues', read: answerer, isRight: is('ivr') },
  people: { what: 'people who pick up', read: answerer, isRight: isNot('machine', 'mailbox_full', 'ivr', 'fax') },
  wish: { what: 'wishes not to be called again', read: wish, isRight: is('wish') },
  noWish: { what: 'other talk of calls and lists', read: wish, isRight: is('none'), always: true },
}

const heard = new Map(
  LANGUAGES.map((language) => {
    const file = new URL(`support/heard/${language.code}.yaml`, import.meta.url)
    return [language, parse(readFileSync(file, 'utf8')) as Record<string, string[]>] as const
  }),
)

for (const [name, { what, read, isRight, always = false }] of Object.entries(KINDS)) {
  t.test(`${what} are told from others in every language`, async (t) => {
    const described: string[] = []
    for (const [language, kinds] of heard) {
      const all = kinds[name]!
      const wrong = all.filter((text) => !isRight(read(text, language)))
      described.push(...wrong.map((text) => `${language.code}: "${text}" is ${read(text, language)}`))
      t.ok(all.length >= LEAST_OF_KIND, `${language.code}: ${all.length} utterances`)
      t.ok(1 - wrong.length / all.length >= MIN_SHARE, `${language.code}: ${wrong.length} of ${all.length} are wrong`)
    }
    for (const line of described) t.comment(line)
    if (always) t.same(described, [], 'none is taken wrongly')
  })
}

t.test('nobody consents, or wants no calls, by what they say for another reason', async (t) => {
  for (const [language, kinds] of heard) {
    for (const text of ['no', 'unclear', 'neither', 'stop', 'people', 'wish'].flatMap((kind) => kinds[kind]!)) {
      t.not(consent(text, language), 'given', `${language.code}: ${text}`)
    }
    const others = Object.keys(KINDS).filter((kind) => kind !== 'wish')
    for (const text of others.flatMap((kind) => kinds[kind]!)) t.notOk(wantsNoCalls(text), `${language.code}: ${text}`)
  }
})
