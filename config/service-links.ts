import type { Environment } from './load.ts'

/**
 * The variables by which Kubernetes tells every pod of the Services of its namespace, unless `enableServiceLinks` is false. A Service
 * named `patchbay` or `patchbay-sip` makes some that look like settings: PATCHBAY_SIP_PORT=tcp://10.0.0.1:5060.
 */
const HOST_OR_PORT = /^PATCHBAY_(?:\w+_)?SERVICE_(?:HOST|PORT(?:_\w+)?)$/
const OF_A_PORT = /^PATCHBAY_(?:\w+_)?PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/
const PORT = /^PATCHBAY_(?:\w+_)?PORT$/
const PORT_URL = /^(?:tcp|udp|sctp):\/\//

/** The names of variables that are service links. */
export function serviceLinksOf(env: Environment): string[] {
  return Object.entries(env)
    .filter(
      ([name, value = '']) =>
        HOST_OR_PORT.test(name) || OF_A_PORT.test(name) || (PORT.test(name) && PORT_URL.test(value)),
    )
    .map(([name]) => name)
}

/** The environment without its service links. */
export function withoutServiceLinks(env: Environment): Environment {
  const links = new Set(serviceLinksOf(env))
  return links.size === 0 ? env : Object.fromEntries(Object.entries(env).filter(([name]) => !links.has(name)))
}
