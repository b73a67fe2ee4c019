import t from 'tap'
import { sampleRateOf, WAV_HEAD_BYTES } from '../../../../runtime/recording/wav.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

t.test('a voice is heard before an agent has it', async (t) => {
  const { env, stop } = await startDoubles()
  t.teardown(stop)
  const { CARTESIA_BASE_URL = '' } = env
  const api = await startTestApi(t, { env: { CARTESIA_BASE_URL, CARTESIA_API_KEY: 'wrong' } })
  const { client } = await api.signUp()
  const body = { TTS_provider: 'offline', TTS_voice: 'de', language: 'de', text: 'Guten Tag!' }

  const answer = await client.post('/voices/sample', { body })
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'audio/wav')
  const wav = answer.bytes
  const rateHz = sampleRateOf(wav) ?? 0
  const seconds = (wav.length - WAV_HEAD_BYTES) / 4 / rateHz
  t.ok(seconds > 0.4 && seconds < 5, `it lasts ${seconds} s`)
  const loudest = wav.subarray(WAV_HEAD_BYTES).reduce((most, byte) => Math.max(most, byte), 0)
  t.ok(loudest > 0, 'it is no silence')

  const unknown = await client.post('/voices/sample', { body: { ...body, TTS_voice: 'nobody' } })
  t.match(unknown, { status: 422, body: { detail: [{ loc: ['body', 'TTS_voice'], msg: /must be one of/ }] } })
  const refused = await client.post('/voices/sample', {
    body: { TTS_provider: 'cartesia', TTS_voice: 'f786b574-daa5-4673-aa0c-cbe3e8534c02', text: 'Hello!' },
  })
  t.match(refused, { status: 422, body: { detail: [{ loc: ['body', 'TTS_provider'], msg: /CARTESIA_API_KEY/ }] } })
  const long = await client.post('/voices/sample', { body: { ...body, text: 'a'.repeat(301) } })
  t.equal(long.status, 422)
})
