import { spawn } from 'node:child_process'
import { Recogniser } from '../../plugins/sim/recogniser.ts'
import type { Template } from '../../plugins/sim/template.ts'
import utterances from '../../plugins/sim/utterances/en.json' with { type: 'json' }
import { Vocabulary } from '../../plugins/sim/vocabulary.ts'
import { toAgent } from '../../runtime/call/path.ts'
import type { AudioFormat } from '../../runtime/call/types/leg.ts'
import { InboundAudio } from '../../runtime/conversation/hearing/inbound-audio.ts'
import { MODEL_RATE_HZ } from '../../runtime/conversation/providers/models.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { prepareOpusRepair } from '../../runtime/media/codecs/opus-repair.ts'
import { EchoSuppressor } from '../../runtime/media/dsp/echo.ts'
import type { Pacer } from '../../runtime/media/line/pacer.ts'

/** What was understood of one caller. */
export interface Understood {
  texts: readonly string[]
  /** Of the caller's audio, what did not come, and what came too late. */
  lostMs: number
  lateMs: number
}

const END_SILENCE_MS = 300
let templates: Promise<readonly Template[]> | undefined

/** A voice worker's way in for one caller, up to the simulated recogniser. */
export async function listenTo(format: AudioFormat, pacer: Pacer) {
  const start = (program: string, args: readonly string[], options?: { signal?: AbortSignal }) =>
    spawn(program, args, { ...options, stdio: 'pipe' })
  templates ??= new Vocabulary(start, new AbortController().signal).templates(utterances, ['en-us'])
  const recogniser = new Recogniser(MODEL_RATE_HZ, { endSilenceMs: END_SILENCE_MS })
  recogniser.use(await templates)
  await prepareOpusRepair()
  const ears = new InboundAudio(systemClock)
  const texts: string[] = []
  ears.listen((samples) => recogniser.push(samples, (event) => event.type === 'final' && texts.push(event.text)))
  const echo = new EchoSuppressor(format.sampleRateHz, MODEL_RATE_HZ)
  const line = toAgent(format, MODEL_RATE_HZ, echo, ears, systemClock, pacer)
  return {
    audio: line.audio,
    end(): Understood {
      line.close()
      return { texts, lostMs: line.lost.line, lateMs: line.lost.late }
    },
  }
}
