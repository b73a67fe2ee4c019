import type { Resume } from '../../call/log/resume.ts'

/**
 * When the caller's packets came that a worker is given late: those up to the last one that was there when it was offered the
 * call, and those behind them for as long as it is still catching up. Pure: monotonic milliseconds.
 * @param answeredMs when the call was answered
 * @param isBehind whether earlier packets wait to be heard
 */
export function replayTimestamps(
  heard: Resume['heard'],
  answeredMs: number,
  sampleRateHz: number,
  isBehind: () => boolean,
): (timestamp: number) => number | undefined {
  let late = heard !== undefined
  return (timestamp) => {
    if (!late || heard === undefined) return undefined
    if (timestamp > heard.timestamp && !isBehind()) {
      late = false
      return undefined
    }
    return answeredMs + heard.ms + ((timestamp - heard.timestamp) * 1_000) / sampleRateHz
  }
}
