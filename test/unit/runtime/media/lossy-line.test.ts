import { spawn } from 'node:child_process'
import t from 'tap'
import { Recogniser } from '../../../../plugins/sim/recogniser.ts'
import utterances from '../../../../plugins/sim/utterances/en.json' with { type: 'json' }
import { Vocabulary } from '../../../../plugins/sim/vocabulary.ts'
import { toAgent } from '../../../../runtime/call/path.ts'
import type { AudioFormat } from '../../../../runtime/call/types/leg.ts'
import { InboundAudio } from '../../../../runtime/conversation/hearing/inbound-audio.ts'
import { encodeG711 } from '../../../../runtime/media/codecs/g711.ts'
import { EchoSuppressor } from '../../../../runtime/media/dsp/echo.ts'
import { joinSamples } from '../../../../runtime/media/frame.ts'
import { Pacer } from '../../../../runtime/media/line/pacer.ts'
import { renderSpeech } from '../../../../scripts/demo/speech.ts'
import { seeded } from '../../../support/phone/numbers.ts'
import { FakeTimers } from '../../../system/plugins/sip/support/fake-timers.ts'

/** The worker's way in, from packets of a bad line to the recogniser, in time moved by hand. */

const LINE_HZ = 8_000
const MODEL_HZ = 16_000
const PACKET = LINE_HZ / 50
const LOSS = 0.05
const JITTER_MS = 40
const SEEDS = [1, 2, 3, 4]

const stop = new AbortController()
const vocabulary = new Vocabulary(
  (program, args, options) => spawn(program, args, { ...options, stdio: 'pipe' }),
  stop.signal,
)

const silence = (ms: number) => new Int16Array((LINE_HZ * ms) / 1000)

/** Says it over a line that loses and delays packets, each for itself; what the recogniser made of it. */
async function understood(spoken: Int16Array, encoding: 'pcmu' | 'pcma', random: () => number): Promise<string> {
  const timers = new FakeTimers()
  const cancels = new Map<number, () => void>()
  let handle = 0
  const pacer = new Pacer(
    timers,
    (error) => {
      throw error
    },
    {
      setTimeout(callback, delayMs) {
        cancels.set(++handle, timers.after(delayMs, callback))
        return handle
      },
      clearTimeout: (which) => cancels.get(which as number)?.(),
    },
  )
  const format: AudioFormat = { encoding, sampleRateHz: LINE_HZ }
  const ears = new InboundAudio(timers)
  const recogniser = new Recogniser(MODEL_HZ, { endSilenceMs: 200 })
  recogniser.use(await vocabulary.templates(utterances, ['en-us']))
  const heard: string[] = []
  ears.listen((samples) => recogniser.push(samples, (event) => event.type === 'final' && heard.push(event.text)))
  const line = toAgent(format, MODEL_HZ, new EchoSuppressor(LINE_HZ, MODEL_HZ), ears, timers, pacer)
  const audio = joinSamples([silence(300), spoken, silence(800)])
  for (let at = 0; at < audio.length; at += PACKET) {
    const bytes = encodeG711(encoding, audio.slice(at, at + PACKET))
    const lost = random() < LOSS
    const delayMs = random() * JITTER_MS
    if (!lost) timers.after((at / LINE_HZ) * 1_000 + delayMs, () => line.audio(bytes, at))
  }
  timers.advance((audio.length / LINE_HZ) * 1_000 + 500)
  line.close()
  return heard.join(' | ')
}

for (const encoding of ['pcmu', 'pcma'] as const) {
  t.test(`a line with 5 % loss and 40 ms jitter costs at most one utterance in twenty (${encoding})`, async (t) => {
    const missed: string[] = []
    const random = SEEDS.map(seeded)
    for (const text of utterances) {
      const spoken = await renderSpeech(text, LINE_HZ)
      for (const [i, seed] of SEEDS.entries()) {
        const said = await understood(spoken, encoding, random[i]!)
        if (said !== text) missed.push(`${seed}: ${text} → ${said || 'nothing'}`)
      }
    }
    const share = 1 - missed.length / (SEEDS.length * utterances.length)
    t.ok(share >= 0.95, `understood ${(100 * share).toFixed(1)} %`, { missed })
  })
}
