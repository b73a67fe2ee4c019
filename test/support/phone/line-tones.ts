/** Signals of telephone networks (ITU-T E.180 and its supplement, E.182; T.30; V.8), as samples. */

/** Sines that sound together for so long; none: silence. `modulatedHz` is that of the amplitude. */
export interface Sound {
  hz: readonly number[]
  ms: number
  modulatedHz?: number
}

/** @param repeat how often the cadence is played */
export function sounds(cadence: readonly Sound[], rateHz: number, repeat = 1, amplitude = 8_000): Int16Array {
  const parts = Array.from({ length: repeat }, () => cadence).flat()
  const total = parts.reduce((sum, { ms }) => sum + Math.round((ms * rateHz) / 1000), 0)
  const out = new Int16Array(total)
  let at = 0
  for (const { hz, ms, modulatedHz } of parts) {
    const length = Math.round((ms * rateHz) / 1000)
    for (let n = 0; n < length; n++) {
      const envelope = modulatedHz === undefined ? 1 : 0.5 + 0.5 * Math.sin((2 * Math.PI * modulatedHz * n) / rateHz)
      let sum = 0
      for (const one of hz) sum += Math.sin((2 * Math.PI * one * (at + n)) / rateHz) / hz.length
      out[at + n] = Math.round(amplitude * envelope * sum)
    }
    at += length
  }
  return out
}

const on = (ms: number, ...hz: number[]): Sound => ({ hz, ms })
const off = (ms: number): Sound => ({ hz: [], ms })

/** What a network or a fax plays that is nobody's beep, each with a pause after it. */
export const NETWORK_TONES: Readonly<Record<string, readonly Sound[]>> = {
  'US ringback': [on(2_000, 440, 480), off(4_000)],
  'UK ringback': [on(400, 400, 450), off(200), on(400, 400, 450), off(2_000)],
  'EU ringback': [on(1_000, 425), off(4_000)],
  'JP ringback': [{ hz: [400], ms: 1_000, modulatedHz: 16 }, off(2_000)],
  'US busy': [on(500, 480, 620), off(500)],
  'UK busy': [on(375, 400), off(375)],
  'EU busy': [on(500, 425), off(500)],
  'JP busy': [on(500, 400), off(500)],
  'US congestion': [on(250, 480, 620), off(250)],
  'EU congestion': [on(200, 425), off(200)],
  'US call waiting': [on(300, 440), off(9_700)],
  'UK call waiting': [on(100, 400), off(3_000)],
  'EU call waiting': [on(200, 425), off(600), on(200, 425), off(3_000)],
  'JP call waiting': [{ hz: [400], ms: 500, modulatedHz: 16 }, off(100), on(50, 400), off(3_000)],
  'special information tone': [on(330, 950), on(330, 1_400), on(330, 1_800), off(1_000)],
  'special information tone of the US (no circuit)': [on(276, 985.2), on(380, 1_428.5), on(380, 1_776.7), off(1_000)],
  'special information tone with gaps': [on(330, 950), off(30), on(330, 1_400), off(30), on(330, 1_800), off(1_000)],
  'US dial tone': [on(3_000, 350, 440), off(500)],
  'EU dial tone': [on(3_000, 425), off(500)],
  'US howler': [on(100, 1_400, 2_060, 2_450, 2_600), off(100)],
  'calling card prompt': [on(60, 941, 1_477), on(940, 350, 440), off(500)],
  'calling fax': [on(500, 1_100), off(3_000)],
  'answering fax': [on(3_000, 2_100), off(1_000)],
  'a key': [on(200, 1_209, 697), off(300)],
}
