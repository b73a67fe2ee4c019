import { makeStt } from '../../../../../plugins/openai/stt.ts'
import { Resampler } from '../../../../../runtime/media/dsp/resample.ts'
import { samplesOf } from '../../../../../runtime/media/frame.ts'
import { runOnlyHost } from '../../../../support/instance/plugin-host.ts'
import { wav } from '../../../../support/sip/sip-peers.ts'
import { cutToSound } from './speech.ts'

/** A server that speaks OpenAI's protocol: a real voice and a real recogniser, for tests by hand. `http://127.0.0.1:8000` */
const PCM_RATE_HZ = 24_000

/** The server's voice saying `text`, cut to its sound. */
export async function peerSpeech(server: string, text: string, sampleRateHz: number): Promise<Int16Array> {
  const response = await fetch(`${server}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'voice', voice: 'voice', input: text, response_format: 'pcm' }),
  })
  if (!response.ok) throw new Error(`${server} does not speak: ${response.status}`)
  const samples = samplesOf(new Uint8Array(await response.arrayBuffer()))
  return cutToSound(new Resampler(PCM_RATE_HZ, sampleRateHz).push(samples))
}

/** The server's recogniser, as the plugin has it. */
export function peerStt(server: string, language: string) {
  const env = new Map([['OPENAI_BASE_URL', `${server}/v1`]])
  const host = runOnlyHost('openai')
  const net = { ...host.net, fetch: (url: string | URL, init?: RequestInit) => fetch(url, init) }
  return makeStt(
    { ...host, env: { get: (name) => env.get(name) }, net },
    { model: 'recogniser', language, settings: {} },
  )
}

/** The words that the server's recogniser finds. @param samples at 8 kHz */
export async function peerWords(server: string, samples: Int16Array): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([Uint8Array.from(wav(samples))]), 'speech.wav')
  form.append('model', 'recogniser')
  const response = await fetch(`${server}/v1/audio/transcriptions`, { method: 'POST', body: form })
  if (!response.ok) throw new Error(`${server} does not listen: ${response.status}`)
  return ((await response.json()) as { text: string }).text
}
