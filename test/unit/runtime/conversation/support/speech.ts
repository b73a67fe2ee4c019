import { execFileSync } from 'node:child_process'
import { Resampler } from '../../../../../runtime/media/dsp/resample.ts'

const rendered = new Map<string, Int16Array>()

/** A person saying `text`, as 16-bit samples: espeak-ng, cut to its sound. */
export function speech(text: string, sampleRateHz: number, voice = 'en-us'): Int16Array {
  const key = `${voice}|${sampleRateHz}|${text}`
  const known = rendered.get(key)
  if (known !== undefined) return known
  const wav = execFileSync('espeak-ng', ['-v', voice, '-s', '160', '--stdout', text], { maxBuffer: 1 << 24 })
  const fromHz = wav.readUInt32LE(24)
  const bytes = wav.subarray(44, wav.length - (wav.length % 2))
  const cut = cutToSound(new Resampler(fromHz, sampleRateHz).push(new Int16Array(new Uint8Array(bytes).buffer)))
  rendered.set(key, cut)
  return cut
}

/** Without the silence before and behind. */
export function cutToSound(samples: Int16Array): Int16Array {
  let from = 0
  let to = samples.length
  while (from < to && Math.abs(samples[from]!) < 300) from++
  while (to > from && Math.abs(samples[to - 1]!) < 300) to--
  return samples.slice(from, to)
}

/** The same after half a second: what the agent said last is off the line by then. */
export function speechAfterPause(text: string, sampleRateHz: number): Int16Array {
  const said = speech(text, sampleRateHz)
  const whole = new Int16Array(sampleRateHz / 2 + said.length)
  whole.set(said, sampleRateHz / 2)
  return whole
}

/** A quiet line: noise of about -66 dB. */
export function lineNoise(samples: number): Int16Array {
  return Int16Array.from({ length: samples }, () => Math.round(Math.random() * 24 - 12))
}

/** A cough-like burst: shaped noise without pitch. */
export function cough(sampleRateHz: number, durationMs = 250): Int16Array {
  const length = Math.round((sampleRateHz * durationMs) / 1000)
  return Int16Array.from({ length }, (_, i) => {
    const envelope = Math.exp((-4 * i) / length) * Math.min(1, i / (sampleRateHz * 0.005))
    return Math.round((Math.random() * 2 - 1) * 14000 * envelope)
  })
}
