import { tts } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { test } from 'tap'
import { samplesOf } from '../../../../runtime/media/frame.ts'
import { call, RATE_HZ } from './support/harness.ts'
import { ScriptedLlm, ScriptedStt } from './support/providers.ts'
import { speech } from './support/speech.ts'

const GREETING = 'Hotel Aurora, good morning! We have rooms free until Friday.'
const ANSWER =
  'It is canceled, and the money will be back on your account within a week, or sooner if your bank is quick.'
const REQUEST = 'I want to cancel my booking.'

/** Speaks with a human's voice, so that its echo is one's. */
class VoiceTts extends tts.TTS {
  override label = 'test.Voice'

  constructor() {
    super(RATE_HZ, 1, { streaming: true })
  }

  override synthesize(): tts.ChunkedStream {
    throw new Error('not used')
  }

  override stream(): tts.SynthesizeStream {
    return new VoiceStream(this, { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 1000 })
  }
}

class VoiceStream extends tts.SynthesizeStream {
  override label = 'test.Voice'

  protected override async run(): Promise<void> {
    let text = ''
    for await (const piece of this.input) if (typeof piece === 'string') text += piece
    this.markStarted()
    const samples = speech(text, RATE_HZ, 'en-us')
    if (this.queue.closed) return
    const frame = new AudioFrame(samples, RATE_HZ, 1, samples.length)
    this.queue.put({ requestId: 'r', segmentId: 's', frame, final: false })
    this.queue.put(tts.SynthesizeStream.END_OF_STREAM)
  }
}

/** A call whose line sends the agent's voice back. */
async function echoing(lossDb: number, delayMs: number) {
  const waiting: Int16Array[] = Array.from({ length: delayMs / 20 }, () => new Int16Array(RATE_HZ / 50))
  const sent: Int16Array[] = []
  const made = await call({
    providers: {
      stt: new ScriptedStt({ utterances: [REQUEST] }),
      llm: new ScriptedLlm(() => ANSWER),
      tts: new VoiceTts(),
    },
    agent: { firstMessage: GREETING },
    line: (frame) => {
      waiting.push(sent.shift() ?? new Int16Array(frame.length))
      const back = waiting.shift()!
      for (let i = 0; i < frame.length; i++) {
        const sample = frame[i]! + back[i]! * 10 ** (-lossDb / 20)
        frame[i] = Math.max(-32_768, Math.min(32_767, sample))
      }
    },
  })
  made.port.onAudio = (bytes) => sent.push(samplesOf(bytes).slice())
  return made
}

test('an agent that hears itself says its greeting to the end, and is cut off by a caller alone', async (t) => {
  const { port, say, hangUp } = await echoing(10, 120)
  t.teardown(hangUp)
  await port.until('the greeting was said', () => port.turns.length > 0)
  t.strictSame(port.said, [`assistant: ${GREETING}`])
  await say(speech(REQUEST, RATE_HZ, 'en-gb+f3'))
  const loudFrames = port.loudFrames
  await port.until('the caller is being answered', () => port.loudFrames > loudFrames + 50)
  await say(speech(REQUEST, RATE_HZ, 'en-gb+f3'))
  await port.until('the answer was cut off', () => port.turns.some(({ turn }) => turn.interrupted))
})
