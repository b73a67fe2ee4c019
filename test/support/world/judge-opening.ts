import { AnswerDetector } from '../../../runtime/conversation/hearing/answer-detector.ts'
import { decodeG711, encodeG711 } from '../../../runtime/media/codecs/g711.ts'
import { BeepDetector } from '../../../runtime/media/tones/beep.ts'
import { ToneTracker } from '../../../runtime/media/tones/tone.ts'
import type { Answerer } from '../../../runtime/plugin-sdk/telephony/answerer.ts'
import { lineNoise } from '../../unit/runtime/conversation/support/speech.ts'
import { NETWORK_TONES, sounds } from '../phone/line-tones.ts'
import type { Piece } from './openings.ts'

/** Who answered, by an opening as a telephone brings it. */

export const RATE_HZ = 8_000
const FRAME = RATE_HZ / 50
const STARTS_MS = 400
const AFTERWARDS_MS = 4_000
/** Voice activity: louder than this is sound, so long a silence ends speech. */
const LOUD = 400
const SPEECH_END_MS = 130
/** A recogniser tells words so long after they were said, and begins anew after this much silence. */
const WORDS_LATE_MS = 300
const UTTERANCE_GAP_MS = 500

/** What is heard of a piece that is spoken: samples at RATE_HZ, and the words that a recogniser finds in it. */
export interface Spoken {
  samples: Int16Array
  words: string
}

interface Word {
  text: string
  endMs: number
}

/** Puts the pieces after each other. Words come at times in proportion to their letters. */
export async function openingLine(
  pieces: readonly Piece[],
  speak: (text: string) => Spoken | Promise<Spoken>,
): Promise<{ samples: Int16Array; words: Word[] }> {
  const parts: Int16Array[] = [new Int16Array((STARTS_MS * RATE_HZ) / 1000)]
  const words: Word[] = []
  let atMs = STARTS_MS
  for (const piece of pieces) {
    const heard = await soundOf(piece, speak)
    const lengthMs = (heard.samples.length * 1000) / RATE_HZ
    const all = heard.words.split(/\s+/).filter((text) => text !== '')
    const total = all.join('').length
    let letters = 0
    for (const text of all) {
      letters += text.length
      words.push({ text, endMs: atMs + (lengthMs * letters) / total })
    }
    parts.push(heard.samples)
    atMs += lengthMs
  }
  parts.push(new Int16Array((AFTERWARDS_MS * RATE_HZ) / 1000))
  const clean = Int16Array.from(parts.flatMap((part) => [...part]))
  const noise = lineNoise(clean.length)
  const coded = encodeG711(
    'pcmu',
    clean.map((sample, i) => sample + noise[i]!),
  )
  return { samples: decodeG711('pcmu', coded), words }
}

function soundOf(piece: Piece, speak: (text: string) => Spoken | Promise<Spoken>): Spoken | Promise<Spoken> {
  if (typeof piece === 'number') return { samples: new Int16Array((piece * RATE_HZ) / 1000), words: '' }
  if (typeof piece === 'object') return { samples: sounds(NETWORK_TONES[piece.tone] ?? [], RATE_HZ), words: '' }
  if (piece === 'beep') return { samples: sounds([{ hz: [1_000], ms: 400 }], RATE_HZ), words: '' }
  return speak(piece)
}

/** The last verdict, and after how much sound it was first given. */
export function judgeOpening({ samples, words }: { samples: Int16Array; words: readonly Word[] }): {
  verdict: Answerer | undefined
  afterMs: number
} {
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
  return { verdict: detector.verdict, afterMs: atMs - STARTS_MS }
}
