/**
 * Who answered, by voices that the suite does not have: mailboxes of human speakers (Asterisk's prompts), in English with their words and
 * in Spanish, French and Italian without any, as an agent that speaks English hears them. `--server URL`: the English openings
 * of the labelled set said by that server's voice and understood by its recogniser, both over OpenAI's protocol.
 */
import { Resampler } from '../runtime/media/dsp/resample.ts'
import { judgeOpening, openingLine, RATE_HZ, type Spoken } from '../test/support/world/judge-opening.ts'
import { OPENINGS, type Opening, type Piece } from '../test/support/world/openings.ts'
import { peerSpeech, peerWords } from '../test/unit/runtime/conversation/support/peer-speech.ts'
import { quantile } from './support/quantile.ts'
import { JUDGED_RATE_HZ } from './turns/rows.ts'
import { cut, fetchRecordings, PROMPTS } from './turns/sources.ts'

/** The English words of the prompts (core-sounds-en.txt of Asterisk). */
const WORDS: Readonly<Record<string, string>> = {
  'vm-theperson': 'The person at extension',
  'vm-isunavail': 'is unavailable.',
  'vm-isonphone': 'is on the phone.',
  'vm-intro': 'Please leave your message after the tone. When done, hang up, or press the pound key.',
  'vm-mailboxfull': "Sorry, but the user's mailbox can't accept more messages.",
  'vm-goodbye': 'Goodbye.',
  'ss-noservice': 'The number you have dialed is not in service. Please check the number and try again.',
}
const EXTENSION = ['digits/4', 'digits/2', 'digits/1', 'digits/7']
const MAILBOXES: readonly (readonly Piece[])[] = [
  ['vm-intro', 300, 'beep'],
  ['vm-theperson', 150, ...EXTENSION, 150, 'vm-isunavail', 400, 'vm-intro', 300, 'beep'],
  ['vm-theperson', 150, ...EXTENSION, 150, 'vm-isonphone', 400, 'vm-intro', 600, 'beep'],
  ['vm-theperson', 150, ...EXTENSION, 150, 'vm-isunavail', 900, 'beep'],
]

interface Judged {
  name: string
  is: Opening['is']
  verdict: string
  afterMs: number
}

export async function run(args: readonly string[]): Promise<void> {
  const recordings = await fetchRecordings()
  for (const language of Object.keys(PROMPTS)) {
    const speak = async (name: string): Promise<Spoken> => {
      const samples = new Resampler(JUDGED_RATE_HZ, RATE_HZ).push(cut(await recordings.prompt(language, name)))
      return { samples, words: language === 'en' ? (WORDS[name] ?? name.replace('digits/', '')) : '' }
    }
    const of = (is: Opening['is'], openings: readonly (readonly Piece[])[]) =>
      openings.map((pieces) => ({ is, pieces }))
    const own = language === 'en' ? of('mailbox_full', [['vm-mailboxfull', 400, 'vm-goodbye']]) : []
    await report(`Human voice, ${language}`, [...of('machine', MAILBOXES), ...own], speak)
  }
  const at = args.indexOf('--server')
  const server = at < 0 ? undefined : args[at + 1]
  if (at >= 0 && server === undefined) throw new Error('--server wants a URL: http://127.0.0.1:18950')
  if (server === undefined) return
  const speak = async (text: string): Promise<Spoken> => {
    const samples = await peerSpeech(server, text, RATE_HZ)
    return { samples, words: await peerWords(server, samples) }
  }
  const english = OPENINGS.filter(({ language }) => language === 'en')
  await report('The labelled set by the server, en', english, speak)
}

async function report(
  title: string,
  openings: readonly Pick<Opening, 'is' | 'pieces'>[],
  speak: (text: string) => Promise<Spoken>,
): Promise<void> {
  const judged: Judged[] = []
  for (const { is, pieces } of openings) {
    const { verdict = 'nothing', afterMs } = judgeOpening(await openingLine(pieces, speak))
    const name = pieces.map((piece) => (typeof piece === 'object' ? piece.tone : piece)).join(' … ')
    judged.push({ name, is, verdict, afterMs })
  }
  const medianMs = quantile(
    judged.map(({ afterMs }) => afterMs),
    0.5,
  )
  const right = judged.filter(({ is, verdict }) => is === verdict).length
  const people = judged.filter(({ is }) => is === 'human')
  const taken = people.filter(({ verdict }) => verdict === 'machine' || verdict === 'mailbox_full').length
  process.stdout.write(
    `${title}: ${right} of ${judged.length} right; ${taken} of ${people.length} people taken for a machine; verdict p50 ${Math.round(medianMs)} ms\n`,
  )
  for (const { name, is, verdict } of judged) {
    if (is !== verdict) process.stdout.write(`  ${verdict}, not ${is}: ${name}\n`)
  }
}
