import { cutResume } from '../log/resume.ts'
import type { AgentSpec } from '../types/agent-spec.ts'
import type { NodeMessage, OpenSession, WorkerMessage } from './messages.ts'
import { decodeNodeMessage, decodeWorkerMessage, MAX_MESSAGE_BYTES } from './protocol.ts'

/** Encodes messages within the limits of the other end of the link: what it would refuse is rejected here, before it is sent. */

/** Descriptions and schemas of an agent's tools, as JSON in UTF-8. */
const MAX_TOOLS_BYTES = 1 << 20
/** No text of an event is longer. A shorter message is not looked at. */
const CHECKED_CHARS = 100_000

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '')

/** The message as JSON; undefined: the other end would not take it. */
export function encodeMessage(message: NodeMessage | WorkerMessage): string | undefined {
  let json: string
  try {
    json = JSON.stringify(message)
  } catch {
    // Nested too deeply, or too long for a string.
    return undefined
  }
  if (json.length <= CHECKED_CHARS) return json
  if (Buffer.byteLength(json) > MAX_MESSAGE_BYTES) return undefined
  if (message.type !== 'event') return json
  return (decodeWorkerMessage(json) ?? decodeNodeMessage(json)) === undefined ? undefined : json
}

/**
 * The offer of a session as JSON, with as much of what happened before as fits: what is oldest is left out. `fault`: no worker
 * could take it, and why.
 */
export function encodeOpen(message: { type: 'open' } & OpenSession): { json: string } | { fault: string } {
  const fault = faultOfTools(message.agent)
  if (fault !== undefined) return { fault }
  const whole = encodeMessage(message)
  if (whole !== undefined) return { json: whole }
  const { resume, ...rest } = message
  const alone = encodeMessage(rest)
  if (alone === undefined) {
    const kib = MAX_MESSAGE_BYTES >> 10
    return {
      fault: `The agent is too large for a voice worker, which takes ${kib} KiB: shorten its texts and its tools`,
    }
  }
  if (resume === undefined) return { json: alone }
  const maxBytes = MAX_MESSAGE_BYTES - Buffer.byteLength(alone) - ',"resume":'.length
  return { json: encodeMessage({ ...rest, resume: cutResume(resume, maxBytes) }) ?? alone }
}

/** The hint that a session will follow, as JSON; undefined: no worker could take the agent. */
export function encodeWarm(message: Extract<NodeMessage, { type: 'warm' }>): string | undefined {
  return faultOfTools(message.agent) === undefined ? encodeMessage(message) : undefined
}

function faultOfTools({ tools = [] }: AgentSpec): string | undefined {
  let bytes: number
  try {
    bytes = bytesOf(tools)
  } catch {
    return "The schema of one of the agent's tools is nested too deeply for a voice worker"
  }
  if (bytes <= MAX_TOOLS_BYTES) return undefined
  const [kib, maxKib] = [Math.ceil(bytes / 1024), MAX_TOOLS_BYTES >> 10]
  return `The agent's tools have ${kib} KiB of descriptions and schemas; at most ${maxKib} KiB are taken: offer fewer of them`
}
