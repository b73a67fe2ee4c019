import t from 'tap'
import { FLOOR_EVIDENCE_MS, floorEvidence } from '../../../../../runtime/conversation/hearing/barge-in.ts'
import { MODEL_RATE_HZ, VAD_WINDOW_SAMPLES } from '../../../../../runtime/conversation/providers/models.ts'
import { EchoSuppressor } from '../../../../../runtime/media/dsp/echo.ts'
import { Resampler } from '../../../../../runtime/media/dsp/resample.ts'
import { sharedModels } from '../../conversation/support/harness.ts'
import { lineNoise } from '../../conversation/support/speech.ts'
import { AGENTS, CALLERS, FRAME, gain, hear, lostOf, RATE_HZ, spoken } from './support/echo-line.ts'

// The same noise and the same late packets each time.
let state = 1
Math.random = () => {
  state = (state * 48_271) % 2_147_483_647
  return state / 2_147_483_647
}

/** When the agent would fall silent: ms from the beginning of the call, by the model and the rules of voice-activity.ts. */
async function bargedInAtMs(samples: Int16Array): Promise<number | undefined> {
  const { createVad } = await sharedModels()
  const vad = createVad()
  const windowMs = (VAD_WINDOW_SAMPLES * 1000) / MODEL_RATE_HZ
  let evidenceMs = 0
  let silentMs = 0
  for (let at = 0; at + VAD_WINDOW_SAMPLES <= samples.length; at += VAD_WINDOW_SAMPLES) {
    const window = samples.slice(at, at + VAD_WINDOW_SAMPLES)
    const probability = await vad.predict(window)
    if (probability >= 0.5) {
      silentMs = 0
      evidenceMs += windowMs * floorEvidence(window, probability)
    } else {
      silentMs += windowMs
      if (silentMs >= 4 * windowMs) evidenceMs = 0
    }
    if (evidenceMs >= FLOOR_EVIDENCE_MS.normal) return ((at + VAD_WINDOW_SAMPLES) * 1000) / MODEL_RATE_HZ
  }
  return undefined
}

t.test('the agent is not interrupted by its own echo, however loud, late and whose', async (t) => {
  const raw = hear({ agent: AGENTS[0]!, lossDb: 20, delayMs: 120, unfiltered: true })
  t.ok(await bargedInAtMs(raw.samples), 'without the suppressor it is')
  for (const lossDb of [8, 14, 20, 26, 32, 38, 44]) {
    for (const delayMs of [0, 55, 120, 250, 400]) {
      const agent = AGENTS[(lossDb + delayMs) % AGENTS.length]!
      const { samples } = hear({ agent, lossDb, delayMs })
      t.equal(await bargedInAtMs(samples), undefined, `an echo of -${lossDb} dB after ${delayMs} ms`)
    }
  }
})

t.test('packets that come unevenly change nothing', async (t) => {
  const { samples } = hear({ agent: AGENTS[1]!, lossDb: 12, delayMs: 180, jitterMs: 60 })
  t.equal(await bargedInAtMs(samples), undefined)
})

interface Player {
  /** Sound is drawn out until so much more of it was played, by a piece as long as that each time so much was. */
  drawnOutMs?: number
  everyMs?: number
  pieceMs?: number
  /** Ran dry there, for so long. */
  gaps?: readonly (readonly [atMs: number, forMs: number])[]
  /** From there on it hurries, until so much less was played. */
  hurriesFromMs?: number
  hurriedMs?: number
}

const samplesOf = (ms: number) => Math.round((ms * RATE_HZ) / 1000)

/** What a jitter buffer makes of a voice when it begins: repeats pieces until it holds enough, and leaves some out once it holds more. */
function playedBy(player: Player): (voice: Int16Array) => Int16Array {
  const { drawnOutMs = 0, everyMs = 50, pieceMs = 8, gaps = [], hurriesFromMs = 0, hurriedMs = 0 } = player
  const piece = samplesOf(pieceMs)
  return (voice) => {
    const out: number[] = []
    let more = 0
    let less = 0
    let since = 0
    for (let i = 0; i < voice.length; i++) {
      for (const [atMs, forMs] of gaps)
        if (i === samplesOf(atMs)) out.push(...new Array<number>(samplesOf(forMs)).fill(0))
      out.push(voice[i]!)
      if (++since < samplesOf(everyMs) || i < piece) continue
      if (more < samplesOf(drawnOutMs)) {
        out.push(...voice.subarray(i - piece, i))
        more += piece
      } else if (i > samplesOf(hurriesFromMs) && less < samplesOf(hurriedMs)) {
        i += piece
        less += piece
      } else continue
      since = 0
    }
    return Int16Array.from(out)
  }
}

const PLAYERS: Readonly<Record<string, Player>> = {
  'draws sound out a little': { drawnOutMs: 60, everyMs: 60 },
  'draws sound out for long': { drawnOutMs: 120 },
  'runs dry': {
    gaps: [
      [120, 60],
      [400, 40],
    ],
  },
  'runs dry and draws sound out': { gaps: [[150, 40]], drawnOutMs: 100 },
  'hurries later': { drawnOutMs: 120, everyMs: 70, hurriesFromMs: 1_500, hurriedMs: 40 },
}

t.test(
  'the agent is not interrupted by what a page plays, which moves while its player fills its buffer',
  async (t) => {
    for (const [name, player] of Object.entries(PLAYERS)) {
      for (const [i, agent] of AGENTS.entries()) {
        for (const [lossDb, delayMs] of [
          [6, 50],
          [12, 180],
          [6, 400],
        ] as const) {
          const { samples } = hear({ agent, lossDb, delayMs: delayMs + 20 * i, player: playedBy(player) })
          t.equal(await bargedInAtMs(samples), undefined, `one that ${name}, -${lossDb} dB, ${delayMs} ms, voice ${i}`)
        }
      }
    }
  },
)

t.test('a caller who speaks over what such a page plays is heard within 400 ms', async (t) => {
  for (const [i, caller] of CALLERS.entries()) {
    const player = playedBy(Object.values(PLAYERS)[i + 1]!)
    const callerAtMs = 2_600 + 370 * i
    const heard = hear({ agent: AGENTS[i]!, lossDb: 12, delayMs: 180, player, caller, callerAtMs })
    const position = await bargedInAtMs(heard.samples)
    const atMs = position && heard.atMs((position * MODEL_RATE_HZ) / 1000 - 1)
    t.ok(atMs !== undefined && atMs > callerAtMs && atMs - callerAtMs <= 400, `caller ${i}: ${atMs} of ${callerAtMs}`)
  }
})

/** A line whose loudspeaker is switched on or off after the agent's first sentences. */
async function hearTwice({
  first,
  later,
  doubted,
  caller,
}: Record<'first' | 'later', number | undefined> & { doubted?: boolean; caller?: Int16Array }) {
  const [one, two] = [AGENTS[0]!, AGENTS[1]!]
  const pause = RATE_HZ
  const sent = new Int16Array(one.length + pause + two.length)
  sent.set(one)
  sent.set(two, one.length + pause)
  const second = one.length + pause
  const sound = Float64Array.from(lineNoise(sent.length + RATE_HZ))
  const delay = samplesOf(180)
  for (let i = 0; i < sent.length; i++) {
    const lossDb = i < second ? first : later
    if (lossDb !== undefined) sound[i + delay]! += sent[i]! * gain(-lossDb)
  }
  caller?.forEach((sample, i) => {
    sound[second + samplesOf(2_000) + i]! += sample * gain(-15)
  })
  const echo = new EchoSuppressor(RATE_HZ, MODEL_RATE_HZ)
  const resampler = new Resampler(RATE_HZ, MODEL_RATE_HZ)
  const passed: Int16Array[] = []
  for (let at = 0; at + FRAME <= sound.length; at += FRAME) {
    if (at - (at % FRAME) === second - (second % FRAME) && doubted) echo.doubt()
    const nowMs = 5_000 + (at * 1000) / RATE_HZ
    if (at + FRAME <= sent.length) echo.sent(sent.subarray(at, at + FRAME), nowMs)
    const heard = resampler.push(Int16Array.from(sound.subarray(at, at + FRAME)))
    for (const { samples } of echo.clean(heard, nowMs + 20, ((at + FRAME) * 1000) / RATE_HZ)) passed.push(samples)
  }
  const samples = Int16Array.from(passed.flatMap((piece) => [...piece]))
  return { bargedInAtMs: await bargedInAtMs(samples), secondAtMs: (second * 1000) / RATE_HZ, echo: echo.echo }
}

t.test('who takes the agent for nobody’s voice once looks again for its echo', async (t) => {
  const sure = await hearTwice({ first: undefined, later: 12 })
  t.ok(sure.bargedInAtMs! >= sure.secondAtMs, 'a loudspeaker that is switched on interrupts the agent')
  const doubted = await hearTwice({ first: undefined, later: 12, doubted: true })
  t.equal(doubted.bargedInAtMs, undefined, 'but no second time')
})

t.test('an echo that is gone silences nobody', async (t) => {
  const { echo, bargedInAtMs: atMs, secondAtMs } = await hearTwice({ first: 6, later: undefined, caller: CALLERS[0]! })
  t.equal(echo, undefined)
  t.ok(
    atMs !== undefined && atMs > secondAtMs + 2_000 && atMs < secondAtMs + 2_400,
    `${atMs} of ${secondAtMs + 2_000} ms`,
  )
})

t.test('a caller who speaks over the echo is heard within 400 ms', async (t) => {
  for (const lossDb of [8, 20, 32]) {
    for (const [i, caller] of CALLERS.entries()) {
      const callerAtMs = 2_000 + 370 * i
      const heard = hear({ agent: AGENTS[i]!, lossDb, delayMs: [0, 120, 400][i]!, caller, callerAtMs })
      const position = await bargedInAtMs(heard.samples)
      const atMs = position && heard.atMs((position * MODEL_RATE_HZ) / 1000 - 1)
      t.ok(atMs !== undefined && atMs > callerAtMs, `an echo of -${lossDb} dB, caller ${i}`)
      t.ok(atMs! - callerAtMs <= 400, `an echo of -${lossDb} dB, caller ${i}: heard after ${atMs! - callerAtMs} ms`)
    }
  }
})

t.test('on a line without echo nothing of the caller is lost once that is known', async (t) => {
  for (const caller of CALLERS) {
    const line = { agent: AGENTS[0]!, caller, callerAtMs: 1_500, callerDb: -15 }
    t.equal(hear(line).echo, undefined)
    t.strictSame(lostOf(line), { lost: 0, lateMs: 0 })
  }
})

const SHORT = ['en-us', 'de+f3', 'es'].map((voice) => spoken('Hotel Aurora.', voice))
const YES = ['en-gb+f3', 'en-us', 'de'].map((voice) => spoken('Yes please.', voice))

t.test(
  'before anything is known of the line, a caller is late rather than lost, but for a frame of 20 ms',
  async (t) => {
    for (const [i, agent] of SHORT.entries()) {
      const overMs = (agent.length * 1000) / RATE_HZ
      for (const callers of [CALLERS, YES]) {
        for (const afterMs of [-300, 60, 200, 400, 700]) {
          const callerAtMs = Math.round((overMs + afterMs) / 20) * 20
          const { lost, lateMs } = lostOf({ agent, caller: callers[i]!, callerAtMs, callerDb: -15 })
          const what = `${callers === YES ? 'a short' : 'a long'} answer, ${afterMs} ms after voice ${i}`
          t.ok(lost <= 330, `${what}: ${lost} samples lost`)
          t.ok(lateMs <= 900, `${what}: ${lateMs} ms late`)
        }
      }
    }
  },
)

const GREETINGS = [
  ...AGENTS,
  ...['en-gb', 'en-us+f4'].map((voice) => spoken('Welcome to the Harbour Bistro, where we have cooked fish.', voice)),
].map((voice) => voice.subarray(0, samplesOf(2_000)))
const INTERRUPTERS = [
  ...CALLERS.slice(0, 1),
  spoken('Tell me more about your company.', 'en-us'),
  spoken('Yes please.', 'de'),
  spoken('Hello? Hello, is anybody there?', 'en-us+f2'),
].map((voice) => voice.subarray(0, samplesOf(1_200)))

t.test(
  'who speaks in the agent’s first second is late by 200 ms at least, and loses no tenth of a second',
  async (t) => {
    const waits: number[] = []
    for (const [i, agent] of GREETINGS.entries()) {
      for (const [j, caller] of INTERRUPTERS.entries()) {
        for (const callerDb of [-6, -12]) {
          for (let callerAtMs = 20; callerAtMs <= 1_000; callerAtMs += 140) {
            const { lost, lateMs } = lostOf({ agent, caller, callerAtMs, callerDb })
            const what = `voice ${i}, caller ${j}, ${callerDb} dB, ${callerAtMs} ms`
            t.ok(lost <= MODEL_RATE_HZ / 10, `${what}: ${lost} samples lost`)
            t.ok(lateMs <= 1_500, `${what}: ${lateMs} ms late`)
            if (lateMs > 0) waits.push(lateMs)
          }
        }
      }
    }
    t.equal(Math.min(...waits), 200, 'as soon as likeness tells anything')
  },
)

t.test('the echo of a few words does not pass for a caller', async (t) => {
  for (const lossDb of [8, 14, 20, 26, 32]) {
    for (const delayMs of [0, 120, 250, 400]) {
      const agent = SHORT[(lossDb + delayMs) % SHORT.length]!
      const { samples } = hear({ agent, lossDb, delayMs })
      t.equal(await bargedInAtMs(samples), undefined, `an echo of -${lossDb} dB after ${delayMs} ms`)
    }
  }
})

t.test('noise around the caller passes neither for a caller nor for silence', async (t) => {
  for (const noiseDb of [-65, -55, -50]) {
    for (const lossDb of [8, 14, 20]) {
      for (const delayMs of [0, 120, 400]) {
        const agent = AGENTS[(lossDb + delayMs) % AGENTS.length]!
        const { samples } = hear({ agent, lossDb, delayMs, noiseDb })
        t.equal(
          await bargedInAtMs(samples),
          undefined,
          `noise of ${noiseDb} dB, an echo of -${lossDb} dB, ${delayMs} ms`,
        )
      }
    }
    const callerAtMs = 2_400
    const heard = hear({ agent: AGENTS[0]!, lossDb: 20, delayMs: 120, caller: CALLERS[0]!, callerAtMs, noiseDb })
    const position = await bargedInAtMs(heard.samples)
    const atMs = position && heard.atMs((position * MODEL_RATE_HZ) / 1000 - 1)
    t.ok(atMs !== undefined && atMs > callerAtMs && atMs - callerAtMs <= 400, `noise of ${noiseDb} dB: ${atMs} ms`)
  }
})

t.test('delay and loss of the echo are learnt', async (t) => {
  const { echo } = hear({ agent: AGENTS[2]!, lossDb: 18, delayMs: 200 })
  t.ok(Math.abs(echo!.delayMs - 200) <= 40, `${echo!.delayMs} ms`)
  t.ok(Math.abs(echo!.lossDb - 18) <= 3, `${echo!.lossDb} dB`)
})
