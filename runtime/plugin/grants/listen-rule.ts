import { PatchbayError } from '../../lib/errors.ts'
import { type Environment, variableOf } from './net-rule.ts'

/** Grants to listen: which ports a plugin may open to the network. Pure. */
export interface ListenRule {
  /** Undefined: both. */
  readonly protocol: 'udp' | 'tcp' | undefined
  readonly first: number
  readonly last: number
}

const ENTRY = /^(?:(udp|tcp):)?(\d{1,5})(?:-(\d{1,5}))?$/

/**
 * Reads one entry: `5060`, `udp:5060`, `tcp:5060-5061`, or `${VARIABLE}` holding one. Undefined when that variable is
 * unset. Throws `configuration` when the entry means nothing.
 */
export function parseListenRule(entry: string, env: Environment): ListenRule | undefined {
  const variable = variableOf(entry)
  const text = variable === undefined ? entry : env[variable]
  if (text === undefined || text === '') return undefined
  const [, protocol, low = '', high = low] = ENTRY.exec(text) ?? []
  const first = Number(low)
  const last = Number(high)
  if (low === '' || last > 65535 || first > last) {
    const shown = variable === undefined ? `Listen grant "${entry}"` : `${variable} is "${text}", which`
    const why = first > last ? 'ends before it begins' : 'goes beyond port 65535'
    const reason =
      low !== ''
        ? `${shown} ${why}`
        : `${shown} is not a port, a range of ports such as 16384-18383, or either after udp: or tcp:`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  return { protocol: protocol as 'udp' | 'tcp' | undefined, first, last }
}

/** May this port be opened? Port 0 asks for any free one: only a grant for 0 covers it. */
export function allowsListen(rules: readonly ListenRule[], protocol: 'udp' | 'tcp', port: number): boolean {
  return rules.some(
    (rule) =>
      (rule.protocol ?? protocol) === protocol &&
      rule.first <= port &&
      port <= rule.last &&
      (port > 0 || rule.last === 0),
  )
}

/** Do the rules cover all that `wanted` asks for? */
export function coversListen(rules: readonly ListenRule[], wanted: ListenRule): boolean {
  return rules.some(
    ({ protocol, first, last }) =>
      (protocol === undefined || protocol === wanted.protocol) && first <= wanted.first && wanted.last <= last,
  )
}
