import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'

export interface SipSettings {
  /** 0: no calls. */
  port: number
  address: string
  publicAddress: string | undefined
  rtpPorts: { first: number; last: number }
  tls: { port: number; key: string; cert: string } | undefined
  /** Where every message is copied to (HEP3). */
  hep: { host: string; port: number } | undefined
}

/** The operator's settings: variables that config/schema.ts describes, and the plugin's options. Throws `configuration`. */
export function readSettings(host: PluginHost, options: Readonly<Record<string, unknown>>): SipSettings {
  const range = host.env.get('PATCHBAY_RTP_PORTS') || '16384-18383'
  const [, first, last] = /^(\d{1,5})-(\d{1,5})$/.exec(range) ?? []
  if (first === undefined || last === undefined || Number(last) > 65535 || Number(last) <= Number(first)) {
    const reason = `PATCHBAY_RTP_PORTS is "${range}"; write a range as 16384-18383`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const tls = options.tls as { port?: number; key: string; cert: string } | undefined
  return {
    port: Number(host.env.get('PATCHBAY_SIP_PORT') || 5060),
    address: host.env.get('PATCHBAY_SIP_HOST') || '0.0.0.0',
    publicAddress: host.env.get('PATCHBAY_SIP_PUBLIC_ADDRESS') || undefined,
    rtpPorts: { first: Number(first), last: Number(last) },
    hep: readHep(hepUrlOf(host)),
    tls: tls && { port: tls.port ?? 5061, key: tls.key, cert: tls.cert },
  }
}

/** Grants from before the collector existed don't name it: it is then disabled. */
function hepUrlOf(host: PluginHost): string | undefined {
  try {
    return host.env.get('PATCHBAY_HEP_URL')
  } catch (err) {
    host.log.debug({ err }, 'PATCHBAY_HEP_URL is not granted: messages are copied nowhere')
    return undefined
  }
}

function readHep(text: string | undefined): SipSettings['hep'] {
  if (!text) return undefined
  const url = URL.parse(text)
  if (url?.protocol === 'udp:' && url.hostname !== '') {
    return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 9060) }
  }
  const reason = `PATCHBAY_HEP_URL is "${text}"; write it as udp://homer.example.com:9060`
  throw new PatchbayError('configuration', { params: { reason } })
}
