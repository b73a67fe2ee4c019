import t from 'tap'
import { AnswerDetector } from '../../../../../runtime/conversation/hearing/answer-detector.ts'
import { decodeG711, encodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { BeepDetector } from '../../../../../runtime/media/tones/beep.ts'
import { ToneTracker } from '../../../../../runtime/media/tones/tone.ts'
import type { Answerer } from '../../../../../runtime/plugin-sdk/telephony/answerer.ts'
import { NETWORK_TONES, sounds } from '../../../../support/phone/line-tones.ts'
import { OPENINGS, type Opening } from '../../../../support/world/openings.ts'
import { lineNoise, speech } from '../../conversation/support/speech.ts'

/** Every opening of the labelled set as a telephone brings it, in two voices. */

const RATE_HZ = 8_000
const FRAME = RATE_HZ / 50
const STARTS_MS = 400
const AFTERWARDS_MS = 4_000
/** Voice activity: louder than this is sound, so long a silence ends speech. */
const LOUD = 400
const SPEECH_END_MS = 130
/** A recogniser tells words so long after they were said, and begins anew after this much silence. */
const WORDS_LATE_MS = 300
const UTTERANCE_GAP_MS = 500
/** A man's voice and a woman's. */
const VARIANTS = ['', '+f3']
const VOICES = { en: 'en-us', de: 'de', es: 'es', fr: 'fr', it: 'it' }

interface Word {
  text: string
  endMs: number
}

function lineOf({ language, pieces }: Opening, variant: string): { samples: Int16Array; words: Word[] } {
  const parts: Int16Array[] = [new Int16Array((STARTS_MS * RATE_HZ) / 1000)]
  const words: Word[] = []
  let atMs = STARTS_MS
  for (const piece of pieces) {
    const pause = typeof piece === 'number' ? new Int16Array((piece * RATE_HZ) / 1000) : undefined
    const beep =
      typeof piece === 'object'
        ? sounds(NETWORK_TONES[piece.tone] ?? [], RATE_HZ)
        : piece === 'beep'
          ? sounds([{ hz: [1_000], ms: 400 }], RATE_HZ)
          : undefined
    const samples = pause ?? beep ?? speech(String(piece), RATE_HZ, `${VOICES[language]}${variant}`)
    const lengthMs = (samples.length * 1000) / RATE_HZ
    if (pause === undefined && beep === undefined) {
      const all = String(piece).split(/\s+/)
      let letters = 0
      const total = all.join('').length
      for (const text of all) {
        letters += text.length
        words.push({ text, endMs: atMs + (lengthMs * letters) / total })
      }
    }
    parts.push(samples)
    atMs += lengthMs
  }
  parts.push(new Int16Array((AFTERWARDS_MS * RATE_HZ) / 1000))
  const clean = Int16Array.from(parts.flatMap((part) => [...part]))
  const noise = lineNoise(clean.length)
  const heard = encodeG711(
    'pcmu',
    clean.map((sample, i) => sample + noise[i]!),
  )
  return { samples: decodeG711('pcmu', heard), words }
}

/** The last verdict, and when it was first given. */
function judge(opening: Opening, variant: string): { verdict: Answerer | undefined; atMs: number } {
  const { samples, words } = lineOf(opening, variant)
  const detector = new AnswerDetector(0)
  const tones = new ToneTracker(RATE_HZ)
  const beeps = new BeepDetector()
  let atMs = 0
  let loudMs: number | undefined
  let told = 0
  let utterance = ''
  let lastWordMs = 0
  for (let at = 0; at + FRAME <= samples.length; at += FRAME) {
    const nowMs = ((at + FRAME) * 1000) / RATE_HZ
    const frame = samples.subarray(at, at + FRAME)
    const verdicts: (Answerer | undefined)[] = []
    if (frame.some((sample) => Math.abs(sample) > LOUD)) {
      if (loudMs === undefined) detector.speechStarted(nowMs - 20)
      loudMs = nowMs
    } else if (loudMs !== undefined && nowMs - loudMs >= SPEECH_END_MS) {
      detector.speechEnded(loudMs)
      loudMs = undefined
    }
    for (let word = words[told]; word !== undefined && word.endMs + WORDS_LATE_MS <= nowMs; word = words[++told]) {
      if (word.endMs - lastWordMs > UTTERANCE_GAP_MS + 300) utterance = ''
      utterance = `${utterance} ${word.text}`
      lastWordMs = word.endMs
      verdicts.push(detector.words(utterance, nowMs))
    }
    for (const tone of tones.push(frame)) if (beeps.push(tone)) verdicts.push(detector.beep(nowMs))
    verdicts.push(detector.tick(nowMs))
    if (verdicts.some((verdict) => verdict !== undefined)) atMs = nowMs
  }
  return { verdict: detector.verdict, atMs }
}

t.test('the labelled set: no human is a machine, voicemail is found, and soon', async (t) => {
  const delays: number[] = []
  const found = { right: 0, all: 0 }
  const humans = { machine: 0, human: 0, all: 0 }
  for (const opening of OPENINGS) {
    for (const variant of VARIANTS) {
      const { verdict, atMs } = judge(opening, variant)
      const said = opening.pieces.map((piece) => (typeof piece === 'object' ? piece.tone : piece))
      const name = `${opening.language}${variant}: ${said.join(' … ')}`
      if (opening.is === 'human') {
        humans.all++
        if (verdict === 'human') humans.human++
        if (verdict === 'machine' || verdict === 'mailbox_full' || verdict === 'fax') humans.machine++
        if (verdict !== 'human') t.comment(`${verdict}: ${name}`)
      } else {
        if (opening.is === 'machine') {
          found.all++
          if (verdict === 'machine') found.right++
        }
        if (verdict !== opening.is) t.comment(`${verdict}, not ${opening.is}: ${name}`)
        if (opening.is !== 'machine') t.equal(verdict, opening.is, name)
      }
      delays.push(atMs - STARTS_MS)
    }
  }
  delays.sort((a, b) => a - b)
  const medianMs = delays[delays.length >> 1]!
  t.comment(JSON.stringify({ humans, found, medianMs }))
  t.ok(humans.machine / humans.all <= 0.005, `${humans.machine} of ${humans.all} people are taken for a machine`)
  t.ok(humans.human / humans.all >= 0.95, `${humans.human} of ${humans.all} people are known as such`)
  t.ok(found.right / found.all >= 0.95, `${found.right} of ${found.all} voicemails are found`)
  t.ok(medianMs <= 2_500, `the median verdict comes after ${medianMs} ms of sound`)
})
