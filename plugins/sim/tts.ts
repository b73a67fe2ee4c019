import type { Spawn } from '../../runtime/plugin-sdk/speech/espeak.ts'
import { espeakVoice } from '../../runtime/plugin-sdk/speech/espeak-voice.ts'
import { SentenceTTS, type SpeakSentence, type Voice } from '../../runtime/plugin-sdk/speech/sentence-tts.ts'
import { delay, Faults } from './fault.ts'
import { readTtsScenario, type TtsScenario } from './scenario.ts'

/** The voice that is a beep: no program runs, and any number of sessions cost next to nothing. */
const TONE = 'tone'
const TONE_RATE_HZ = 16_000
const TONE_HZ = 440
const TONE_LEVEL = 8_000
/** How long the beep lasts for each character: the pace of an ordinary speaker. */
const MS_PER_CHARACTER = 60
const PIECE_MS = 20

/** Whole periods of the tone: after these it begins anew. */
const WAVE = Int16Array.from(
  { length: TONE_RATE_HZ / 40 },
  (_, i) => TONE_LEVEL * Math.sin((2 * Math.PI * TONE_HZ * i) / TONE_RATE_HZ),
)

export function makeTts(
  spawn: Spawn,
  voice: string | undefined,
  settings: Readonly<Record<string, unknown>>,
): SentenceTTS {
  return new SentenceTTS(simVoice(spawn, ttsScenario(voice, settings)))
}

/** The voice of an agent is a scenario, or short for the scenario of that voice alone. */
function ttsScenario(voice: string | undefined, settings: Readonly<Record<string, unknown>>): TtsScenario {
  if (voice === undefined || voice === TONE || /^en-us(\+[fm]\d)?$/.test(voice)) return { voice: voice ?? TONE }
  return readTtsScenario(voice, settings)
}

/** A voice whose delays and faults are its scenario's. */
export function simVoice(spawn: Spawn, scenario: TtsScenario): Voice {
  const { voice = TONE, pieceMs } = scenario
  const spoken = voice === TONE ? undefined : espeakVoice('sim', spawn, { voice })
  const sampleRateHz = spoken?.sampleRateHz ?? TONE_RATE_HZ
  return {
    provider: 'sim',
    name: voice,
    language: spoken?.language ?? 'en',
    sampleRateHz,
    speak: withScenario(spoken?.speak ?? tone(pieceMs), sampleRateHz, scenario),
  }
}

/** A beep as long as the text would take to say. */
function tone(pieceMs = PIECE_MS): SpeakSentence {
  const length = (TONE_RATE_HZ * pieceMs) / 1000
  // A piece may begin anywhere in the wave.
  const long = new Int16Array(WAVE.length * (1 + Math.ceil(length / WAVE.length)))
  for (let at = 0; at < long.length; at += WAVE.length) long.set(WAVE, at)
  return async function* (text, signal) {
    const pieces = Math.ceil((text.length * MS_PER_CHARACTER) / pieceMs)
    for (let piece = 0; piece < pieces && !signal.aborted; piece++) {
      const from = (piece * length) % WAVE.length
      yield long.subarray(from, from + length)
    }
  }
}

function withScenario(speak: SpeakSentence, sampleRateHz: number, scenario: TtsScenario): SpeakSentence {
  const faults = new Faults(scenario.fault)
  const { firstByteMs = 0, speed = 0 } = scenario
  return async function* (text, signal) {
    const limitMs = faults.begin()
    const startMs = performance.now() + firstByteMs
    await delay(firstByteMs, signal)
    let madeMs = 0
    for await (const samples of speak(text, signal)) {
      if (madeMs >= limitMs) break
      if (speed > 0) await delay(startMs + madeMs / speed - performance.now(), signal)
      if (signal.aborted) return
      yield samples
      madeMs += (samples.length / sampleRateHz) * 1000
    }
    if (limitMs !== Number.POSITIVE_INFINITY) await faults.strike(signal)
  }
}
