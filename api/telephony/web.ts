import type { EffectiveConfig } from '../../config/schema.ts'
import type { Carriers } from '../../runtime/dialing/carriers.ts'
import { clientAddress, type TrustedProxies } from '../../runtime/lib/client-address.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { PluginRegistry } from '../../runtime/plugin/host.ts'
import type { CarrierEndpoint, CarrierWeb } from '../../runtime/plugin-sdk/telephony/web.ts'
import type { WebSocketRoute } from '../../runtime/process/web-socket.ts'

/** The requests and media streams of carriers that speak HTTP and WebSocket. */

/** Maximum message size; a stream's message holds 20 ms of audio. */
const MAX_PAYLOAD_BYTES = 64 * 1024
const MAX_BACKPRESSURE_BYTES = 256 * 1024
const IDLE_TIMEOUT_S = 30

interface Telephony {
  readonly plugins: PluginRegistry
  readonly carriers: Carriers
}

/** Undefined for a plugin that is not telephony, has no key or takes no requests. */
export async function webOf({ plugins, carriers }: Telephony, provider: string): Promise<CarrierWeb | undefined> {
  if (!plugins.catalogue.telephony.has(provider) || plugins.missingKey(provider) !== undefined) return undefined
  return (await carriers.get(provider)).web
}

/** The WebSocket of each telephony plugin: `/telephony/<plugin>/stream`. */
export function streamRoutes(telephony: Telephony & { readonly isTrustedProxy: TrustedProxies }): WebSocketRoute[] {
  return [...telephony.plugins.catalogue.telephony.keys()].map((provider) => {
    const path = `/telephony/${provider}/stream`
    return {
      path,
      maxPayloadBytes: MAX_PAYLOAD_BYTES,
      maxBackpressureBytes: MAX_BACKPRESSURE_BYTES,
      idleTimeoutS: IDLE_TIMEOUT_S,
      async upgrade({ query, header, remoteAddress }) {
        const web = await webOf(telephony, provider)
        if (web === undefined) throw new PatchbayError('not_found')
        const address = clientAddress(remoteAddress, header('x-forwarded-for') ?? '', telephony.isTrustedProxy)
        return web.stream({ target: path, query, header: (name) => header(name) ?? '', address })
      },
    }
  })
}

/** Where requests of a provider reach this node. */
export function doorOf(config: Pick<EffectiveConfig, 'publicUrl' | 'nodeUrl'>, provider: string): CarrierEndpoint {
  const at = (url: string) => `${url.replace(/\/$/, '')}/telephony/${provider}`
  return { publicUrl: at(config.publicUrl), nodeUrl: at(config.nodeUrl ?? config.publicUrl) }
}
