import { test } from 'tap'
import { SimSTT } from '../../../../plugins/sim/stt.ts'
import { makeTemplate } from '../../../../plugins/sim/template.ts'
import type { EventOf } from '../../../../runtime/call/log/events.ts'
import type { CollectItem } from '../../../../runtime/call/types/collect-item.ts'
import { type SpokenItem, spokenItems } from './collecting/spoken-items.ts'
import { call, RATE_HZ, sharedModels } from './support/harness.ts'
import { peerSpeech, peerStt } from './support/peer-speech.ts'
import { ScriptedLlm, ToneTts } from './support/providers.ts'
import { lineNoise, speech } from './support/speech.ts'

/** How many of the three hundred items are said; `SPOKEN_ITEMS=300` by hand: half an hour with `SPOKEN_AT_ONCE=4`. */
const ITEMS = Number(process.env.SPOKEN_ITEMS ?? 2)
const AT_ONCE = Number(process.env.SPOKEN_AT_ONCE ?? 2)
/** Of a server that speaks OpenAI's protocol: who says the English items, and who hears them; default: espeak-ng, and perfect words. */
const { SPOKEN_BY: voiceServer, HEARD_BY: earServer } = process.env
const isEnglishOnly = voiceServer !== undefined || earServer !== undefined
const PAUSE_MS = 1_500
/** A voice may pause for so long at a comma. */
const PAUSE_WITHIN_MS = 500
const VOICES: Readonly<Record<string, string>> = { en: 'en-us', de: 'de', fr: 'fr', es: 'es', it: 'it', pt: 'pt-br' }
/** The agent's own sentences are of no interest here. */
const TONE_MS_PER_CHARACTER = 10
/** Not heard within this, callers say it again. */
const HEARD_WITHIN_MS = 20_000
const MOST_REPEATS = 3
/** Saturday, 28 November 2026, 14:00 UTC: what dates are read by. */
const NOW_MS = Date.UTC(2026, 10, 28, 14)
const LIMIT_MS = 120_000 + ITEMS * 60_000

interface Outcome {
  item: SpokenItem
  collected: EventOf<'collected'> | undefined
  /** Answers of which a part was taken for the whole while the caller went on. */
  cutOff: string[]
  /** What the agent understood, answer by answer. */
  heard: string[]
}

const isRight = ({ item, collected }: Outcome): boolean =>
  collected?.status === 'collected' && collected.value === item.value

type Sounds = ReadonlyMap<string, Int16Array>

const DENIALS: Readonly<Record<string, string>> = {
  ...{ en: 'No, wrong.', de: 'Nein, falsch.', fr: 'Non, c’est faux.' },
  ...{ es: 'No, está mal.', it: 'No, sbagliato.', pt: 'Não, errado.' },
}
const denies = ({ code }: SpokenItem): string => DENIALS[code]!

/** All that is said of an item. */
async function soundsOf(item: SpokenItem): Promise<Sounds> {
  const { code, groups, correction, yes } = item
  const sounds = new Map<string, Int16Array>()
  for (const text of [...groups, ...(correction === undefined ? [] : [correction]), yes, denies(item)]) {
    const sound =
      voiceServer === undefined ? speech(text, RATE_HZ, VOICES[code]) : await peerSpeech(voiceServer, text, RATE_HZ)
    sounds.set(text, sound)
  }
  return sounds
}

function recogniserOf({ code }: SpokenItem, sounds: Sounds) {
  if (earServer !== undefined) return peerStt(earServer, code)
  // It knows what this caller may say, by its sound.
  const templates = [...sounds].flatMap(([text, sound]) => makeTemplate(text, sound, RATE_HZ, code) ?? [])
  return new SimSTT({ endSilenceMs: PAUSE_WITHIN_MS }, async () => templates)
}

/** One item said aloud in a call: in groups with pauses, then a correction where there is one, and a yes. */
async function collectAloud(item: SpokenItem, sounds: Sounds): Promise<Outcome> {
  const { code, type, groups, correction, yes, value } = item
  const wanted: CollectItem = { name: 'value', type, spellBack: true, secret: false, attempts: 3 }
  const reply = new ScriptedLlm((_words, { items }) =>
    items.some((one) => one.type === 'function_call_output') ? 'Thank you.' : 'call collect_value',
  )
  const { port, say, hangUp, ...caller } = await call({
    providers: { stt: recogniserOf(item, sounds), llm: reply, tts: new ToneTts(undefined, TONE_MS_PER_CHARACTER) },
    nowMs: () => NOW_MS,
    agent: { collect: [wanted], language: code, timeZone: 'Europe/Berlin', firstMessage: '' },
  })
  try {
    const of = <T extends 'collecting' | 'collected' | 'turn'>(kind: T) =>
      port.events.filter((event): event is EventOf<T> => event.type === kind)
    const cutOff: string[] = []
    caller.type('Hello.')
    let corrected = correction === undefined
    let isRepeated = false
    for (let asked = 1; asked <= 8; asked++) {
      const isAsked = () => of('collecting').length >= asked && port.states.at(-1) === 'listening'
      await port
        .until(`question ${asked} was said`, () => of('collected').length > 0 || isAsked())
        .catch(() => undefined)
      const last = of('collecting').at(-1)
      if (last === undefined || of('collected').length > 0 || !isAsked()) break
      let answer: readonly string[] = groups
      if (last.phase === 'confirming') {
        answer = last.value === value ? [yes] : corrected ? [denies(item)] : [correction ?? denies(item)]
        corrected = true
      }
      const isTaken = () => of('collecting').length > asked || of('collected').length > 0
      for (let times = 1; times <= MOST_REPEATS && !isTaken(); times++) {
        await say(aloud(answer.map((text) => sounds.get(text)!)))
        // What was said twice may be heard while the next answer is said.
        isRepeated ||= times > 1
        if (!isRepeated && isTaken()) cutOff.push(answer.join(' '))
        await port.until(`answer ${asked} was taken`, isTaken, HEARD_WITHIN_MS).catch(() => undefined)
      }
    }
    return { item, collected: of('collected')[0], cutOff, heard: of('turn').map(({ text }) => text) }
  } finally {
    await hangUp()
  }
}

/** The groups with pauses between them. */
function aloud(groups: readonly Int16Array[]): Int16Array {
  const pause = lineNoise((PAUSE_MS * RATE_HZ) / 1_000)
  const pieces = groups.flatMap((group, i) => (i === 0 ? [group] : [pause, group]))
  return Int16Array.from(pieces.flatMap((piece) => [...piece]))
}

/** All items, or so many of those that are said in groups. */
function chosen(): SpokenItem[] {
  const all = spokenItems().filter(({ code }) => code === 'en' || !isEnglishOnly)
  if (ITEMS >= all.length) return all
  const grouped = all.filter(({ groups }) => groups.length > 1)
  return Array.from({ length: ITEMS }, (_, i) => grouped[Math.floor(((i + 0.5) * grouped.length) / ITEMS)]!)
}

test(`${ITEMS} items said aloud with pauses of a second and a half: none is cut off, 97 of a hundred are right`, {
  timeout: LIMIT_MS,
}, async (t) => {
  const outcomes: Outcome[] = []
  const told = ({ item, collected, cutOff, heard }: Outcome): string =>
    `${item.code} ${item.groups.join(' | ')} (${item.correction}) ${item.value} → ${JSON.stringify({ collected, cutOff, heard })}`
  const note = (outcome: Outcome): void => {
    outcomes.push(outcome)
    t.comment(`${outcomes.length} ${isRight(outcome) && outcome.cutOff.length === 0 ? 'right' : told(outcome)}`)
  }
  // Before the calls: what renders a voice has the process wait for it.
  const waiting: { item: SpokenItem; sounds: Sounds }[] = []
  for (const item of chosen()) waiting.push({ item, sounds: await soundsOf(item) })
  const { length: count } = waiting
  await sharedModels()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
        note(await collectAloud(next.item, next.sounds))
    }),
  )
  const wrong = outcomes.filter((one) => !isRight(one))
  const cut = outcomes.filter(({ cutOff }) => cutOff.length > 0)
  const questions = outcomes.map(({ collected }) => collected?.attempts ?? 3).sort((a, b) => a - b)
  const median = questions[Math.floor(questions.length / 2)]!
  t.comment(`${count - wrong.length} of ${count} right, ${cut.length} cut off, median questions ${median}`)
  t.same(cut.map(told), [], 'cut off')
  const mostWrong = earServer === undefined ? Math.floor(count * 0.03) : count
  t.ok(wrong.length <= mostWrong, wrong.map(told).join('\n'))
  t.ok(median <= (earServer === undefined ? 1.3 : 3))
})
