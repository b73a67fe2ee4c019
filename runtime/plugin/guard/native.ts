import type { Policy } from './policy.ts'

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

interface RtcBindings {
  livekitFfiRequest?: (request: Uint8Array) => Uint8Array
}

/** Puts the check before the requests of a native module that has just been loaded, where it is that one. */
export function guardNativeSockets(policy: Policy, exports: object | undefined): void {
  const bindings = exports as RtcBindings | undefined
  const original = bindings?.livekitFfiRequest
  if (bindings === undefined || original === undefined) return
  bindings.livekitFfiRequest = (given) => {
    // A copy: what was checked is what is carried out.
    const request = Uint8Array.from(given)
    const fields = fieldsOf(request)
    const refused = fields === undefined ? 'unreadable' : fields.find((field) => !SOUND_REQUESTS.has(field))
    if (refused !== undefined) throw policy.refuse('net', `livekit request ${refused}`)
    return original(request)
  }
}

const VARINT = 0
const FIXED64 = 1
const LENGTH_DELIMITED = 2
const FIXED32 = 5

/** The numbers of a protobuf message's fields (protobuf.dev/programming-guides/encoding); undefined when malformed. */
function fieldsOf(message: Uint8Array): number[] | undefined {
  const fields: number[] = []
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; at < message.length; shift *= 128) {
      const byte = message[at++]!
      value += (byte & 127) * shift
      if (byte < 128) return value
    }
    return Number.NaN
  }
  while (at < message.length) {
    const tag = varint()
    fields.push(Math.floor(tag / 8))
    const type = tag % 8
    if (type === VARINT) varint()
    else if (type === FIXED64) at += 8
    else if (type === FIXED32) at += 4
    else if (type === LENGTH_DELIMITED) {
      const length = varint()
      at += length
    } else return undefined
    if (Number.isNaN(at)) return undefined
  }
  return at === message.length ? fields : undefined
}
