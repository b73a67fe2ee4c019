import type { RecordedSound } from '../../runtime/agent-tests/sound/recorded-words.ts'
import type { ObjectStore } from '../../runtime/plugin/contract.ts'
import { cutRecording } from '../../runtime/recording/cut-recording.ts'
import { CALLER } from '../../runtime/recording/stereo.ts'
import { callById } from '../../store/calls/calls.ts'
import { turnInRecording } from '../../store/calls/turn-in-recording.ts'
import type { Tenant } from '../../store/database/tenant.ts'

/** What a caller says in one breath, at most; more is left out. */
const MAX_TURN_MS = 120_000
/** A voice begins before it is known to be one, and ends after. */
const BEFORE_MS = 250
const AFTER_MS = 300

/** Reads what callers of the workspace said, from the recordings of their calls. */
export function recordedSound(tenant: Tenant, objects: ObjectStore): RecordedSound {
  return async ({ callId, turn: seq }, signal) => {
    const call = await callById(tenant, callId)
    if (call === undefined) throw new Error(`There is no call ${callId} to hear`)
    const turn = call.turns.find((one) => one.seq === seq && one.role === 'user')
    if (turn === undefined) throw new Error(`Turn ${seq} of call ${callId} was not said by its caller`)
    const gone = `Call ${callId} has no recording here: it was never made, was deleted, or lies with another node`
    if (call.recording_key === null) throw new Error(gone)
    const others = call.turns.filter((one) => one.seq !== seq && one.role === 'user')
    const { startMs, endMs } = await turnInRecording(tenant, call, {
      start_ms: Math.max(turn.start_ms - BEFORE_MS, ...endsBefore(others, turn.start_ms)),
      end_ms: Math.min(turn.end_ms + AFTER_MS, ...startsAfter(others, turn.end_ms)),
    })
    const span = { startMs, endMs: Math.min(endMs, startMs + MAX_TURN_MS) }
    const cut = await cutRecording(objects, call.recording_key, span, signal)
    if (cut === undefined) throw new Error(gone)
    const parts: Uint8Array[] = []
    for await (const part of cut.frames ?? []) parts.push(part)
    return { samples: callerOf(Buffer.concat(parts)), sampleRateHz: cut.sampleRateHz }
  }
}

interface Span {
  start_ms: number
  end_ms: number
}

const endsBefore = (turns: readonly Span[], ms: number) => turns.map(({ end_ms }) => end_ms).filter((end) => end <= ms)
const startsAfter = (turns: readonly Span[], ms: number) =>
  turns.map(({ start_ms }) => start_ms).filter((start) => start >= ms)

/** One side of interleaved stereo. */
function callerOf(bytes: Buffer): Int16Array {
  const samples = new Int16Array(Math.floor(bytes.length / 4))
  for (let i = 0; i < samples.length; i++) samples[i] = bytes.readInt16LE(i * 4 + CALLER * 2)
  return samples
}
