import type { Policy } from './policy.ts'
import { replace } from './replace.ts'

/**
 * `@livekit/rtc-ffi-bindings` brings sockets of its own, written in Rust, beside the sound processing it is here for. Of
 * its requests only those about sound on this machine are let through (fields of `FfiRequest` in its proto/ffi.proto).
 */
const SOUND_REQUESTS = new Set([
  // dispose, new_audio_source, capture_audio_frame, clear_audio_buffer
  ...[2, 26, 27, 28],
  // new_audio_resampler, remix_and_resample, new/push/flush_sox_resampler
  ...[29, 30, 33, 34, 35],
  // new_apm, apm_process_stream, apm_process_reverse_stream, apm_set_stream_delay
  ...[50, 51, 52, 53],
])

/** Puts the check before the requests of a native module that has just been loaded, where it is that one. */
export function guardLivekit(policy: Policy, exports: object | undefined): void {
  if (exports === undefined) return
  replace(exports, 'livekitFfiRequest', (original, [given]) => {
    // A copy: what was checked is what is carried out.
    const request = Uint8Array.from(given as Uint8Array)
    const field = onlyFieldOf(request)
    if (field === undefined || !SOUND_REQUESTS.has(field)) {
      throw policy.refuse('net', `livekit request ${field ?? 'unreadable'}`)
    }
    return original(request)
  })
}

/**
 * The number of the one field of a message that is a oneof of messages: its tag, its length, its bytes
 * (protobuf.dev/programming-guides/encoding). Undefined when it is anything else.
 */
function onlyFieldOf(message: Uint8Array): number | undefined {
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let scale = 1; at < message.length; scale *= 128) {
      const byte = message[at++]!
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
    return Number.NaN
  }
  const tag = varint()
  const length = varint()
  return tag % 8 === 2 && at + length === message.length ? Math.floor(tag / 8) : undefined
}
