import t from 'tap'
import { WavReader } from '../../../../../runtime/plugin-sdk/speech/wav-reader.ts'
import { wav } from '../../../../conformance/quirks/support/run-sound.ts'

const SAMPLES = wav(8_000).subarray(44)

/** A WAV that says this of its length. */
function wavThatSays(bytes: number): Buffer {
  const file = wav(8_000)
  file.writeUInt32LE(bytes, 40)
  return file
}

function read(file: Buffer, pieceBytes: number): Buffer {
  const reader = new WavReader(() => {})
  const found: Uint8Array[] = []
  for (let at = 0; at < file.length; at += pieceBytes) found.push(...reader.push(file.subarray(at, at + pieceBytes)))
  return Buffer.concat(found)
}

t.test('a WAV has the same samples however it is cut and whatever it says of its length', async (t) => {
  const lengths = { right: 16_000, OpenAI: 0xffffffff, ElevenLabs: 0x7fffffff, libsndfile: 0, PocketTTS: 2_000_000_000 }
  for (const [name, bytes] of Object.entries(lengths)) {
    for (const pieceBytes of [1, 7, 44, 4_096]) {
      t.ok(read(wavThatSays(bytes), pieceBytes).equals(SAMPLES), `${name}, ${pieceBytes} bytes a piece`)
    }
  }
})

t.test('a head without end is hopeless, and one that goes on is not', async (t) => {
  const reader = new WavReader(() => {})
  const head = Buffer.concat([wav(8_000).subarray(0, 36), Buffer.from('note\xff\xff\xff\x7f', 'latin1')])
  t.same([...reader.push(head)], [])
  t.ok(reader.isHopeless)
  const other = new WavReader(() => {})
  t.ok([...other.push(wav(8_000))].length > 0)
  t.notOk(other.isHopeless)
})
