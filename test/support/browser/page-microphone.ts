import { wavHead } from '../../../runtime/recording/wav.ts'
import { renderSpeech } from '../../../scripts/demo/speech.ts'

const RATE_HZ = 48_000

/** In a page, the same in every browser: its microphone says what the test has it say, when the test does. */
export const PAGE_MICROPHONE = `
const context = new AudioContext({ sampleRate: ${RATE_HZ} })
const microphone = context.createMediaStreamDestination()
microphone.channelCount = 1
// Of a destination without a running source a browser sends nothing.
const silence = new ConstantSourceNode(context, { offset: 0 })
silence.connect(microphone)
silence.start()
await context.resume()
navigator.mediaDevices.getUserMedia = async () => microphone.stream.clone()
window.speak = async (wav) => {
  const bytes = Uint8Array.from(atob(wav), (character) => character.charCodeAt(0))
  const source = new AudioBufferSourceNode(context, { buffer: await context.decodeAudioData(bytes.buffer) })
  source.connect(microphone)
  source.start()
  await new Promise((resolve) => (source.onended = resolve))
}
`

/** The script that has the microphone say this; its promise is kept when it is said. */
export async function speakScript(text: string): Promise<string> {
  const samples = await renderSpeech(text, RATE_HZ)
  const wav = Buffer.concat([wavHead(RATE_HZ, 2 * samples.byteLength), stereo(samples)])
  return `speak(${JSON.stringify(wav.toString('base64'))})`
}

function stereo(samples: Int16Array): Uint8Array {
  const both = new Int16Array(2 * samples.length)
  for (const [i, sample] of samples.entries()) both.fill(sample, 2 * i, 2 * i + 2)
  return new Uint8Array(both.buffer)
}
