import type { WireMessage } from '../../runtime/plugin-sdk/telephony/wire-message.ts'

/** A call's messages as a ladder diagram. Pure. */

const WIDTH = 44

/** One line a message; times are seconds since the first. */
export function ladderOf(messages: readonly WireMessage[]): string {
  const [first] = messages
  if (first === undefined) return ''
  return messages.map((message) => lineOf(message, first.atMs)).join('\n')
}

function lineOf({ atMs, direction, transport, remote, text }: WireMessage, fromMs: number): string {
  const label = labelOf(text).slice(0, WIDTH - 4)
  const dashes = '-'.repeat(Math.max(1, WIDTH - label.length - 3))
  const arrow = direction === 'out' ? `${label} ${dashes}>` : `<${dashes} ${label}`
  const at = ((atMs - fromMs) / 1_000).toFixed(3).padStart(9)
  return `${at} s  Patchbay ${arrow.padEnd(WIDTH)} ${remote.address}:${remote.port} ${transport}`
}

/** `INVITE`, `183 Session Progress (INVITE, SDP)`. */
export function labelOf(text: string): string {
  const [start = ''] = text.split('\r\n', 1)
  const method = /^cseq[ \t]*:[ \t]*\d+[ \t]+(\S+)/im.exec(text)?.[1] ?? ''
  const sdp = /^(?:content-type|c)[ \t]*:[ \t]*application\/sdp/im.test(text)
  const status = /^SIP\/2\.0 (\d{3}) ?(.*)$/.exec(start)
  if (status === null) return `${start.split(' ')[0] ?? ''}${sdp ? ' (SDP)' : ''}`
  return `${status[1]} ${status[2]} (${method}${sdp ? ', SDP' : ''})`
}
