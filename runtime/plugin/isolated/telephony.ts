import {
  callStateOf,
  carrierNewsOf,
  documentOf,
  orderedOf,
  type TelephonyDescription,
} from '../../../packages/plugin/telephony-values.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { findFailure } from '../../plugin-sdk/provider-error.ts'
import { TransferRefused } from '../../plugin-sdk/telephony/carrier.ts'
import { dialectOf } from '../../plugin-sdk/telephony/stream/dialect.ts'
import type { StreamDoor, StreamProvider } from '../../plugin-sdk/telephony/stream/provider.ts'
import { ApiFault } from '../../plugin-sdk/telephony/stream/rest.ts'
import type { CarrierRequest } from '../../plugin-sdk/telephony/web.ts'
import type { SentDoor, SentRequest, TelephonyAct } from './messages.ts'

/** Carries out one call of the carrier's method in its process. Throws what `faultOf` makes of it. */
export type ActTelephony = (act: TelephonyAct, signal?: AbortSignal) => Promise<unknown>

interface IsolatedCarrier {
  act: ActTelephony
  /** Resolves once the plugin can be asked. */
  ready(): Promise<unknown>
}

/** Of an order that the plugin never got: there is no such call. */
const NEVER_ASKED = 400
/** Of a number that the carrier says nobody can call. */
const NO_SUCH_NUMBER = 404

class NumberFault extends ApiFault {}

/** A carrier in a plugin's process. Its streams are read and written here, by the shape that it gave: no audio goes over the pipe. */
export function isolatedTelephony(described: TelephonyDescription, { act, ready }: IsolatedCarrier): StreamProvider {
  const { headers, methods, callsPerSecond, documentType } = described
  const has = (method: string): boolean => methods.includes(method)
  const sent = (request: CarrierRequest): SentRequest => ({
    ...{ method: request.method, event: request.event, target: request.target, body: request.body },
    query: request.query.toString(),
    headers: Object.fromEntries(headers.map((name) => [name, request.header(name)])),
  })
  /** As a request of its API. */
  const ask = async (one: TelephonyAct, signal: AbortSignal): Promise<unknown> => {
    try {
      return await act(one, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw apiFaultOf(error)
    }
  }
  return {
    dialect: dialectOf(described.stream),
    documentType,
    taken: { status: 200 },
    ...(callsPerSecond === undefined ? {} : { callsPerSecond }),
    async verify(request, urls) {
      const isSigned = await act({ name: 'verify', request: sent(request), urls })
      if (isSigned !== true) throw new PatchbayError('forged_request')
    },
    async read(request) {
      const { news, isMalformed } = ((await act({ name: 'read', request: sent(request) })) ?? {}) as {
        news?: unknown
        isMalformed?: boolean
      }
      if (isMalformed === true) throw new SyntaxError('a body that the plugin can’t read')
      return carrierNewsOf(news)
    },
    join: async (call, door) => documentOf(await act({ name: 'join', call, door: sentDoor(door, call.token) })),
    reject: async (as) => documentOf(await act({ name: 'reject', as })),
    ...(has('hangup') && { hangup: async () => documentOf(await act({ name: 'hangup' })) }),
    ...(has('command') && {
      async command(carrierId: string, document: string, signal: AbortSignal) {
        await ask({ name: 'command', carrierId, document }, signal)
      },
    }),
    async create({ callId, from, to, ringTimeoutMs, detectMachine = false }, token, door, signal) {
      await ready().catch((cause: Error) => {
        throw new ApiFault(cause.message, NEVER_ASKED, cause)
      })
      const order = { callId, from, to, ringTimeoutMs, detectMachine }
      const ordered = orderedOf(await ask({ name: 'create', order, token, door: sentDoor(door, token) }, signal))
      if (typeof ordered === 'string') return ordered
      throw new NumberFault(ordered.invalidNumber, NO_SUCH_NUMBER)
    },
    blamesNumber: (fault) => fault instanceof NumberFault,
    async end(carrierId, signal) {
      await ask({ name: 'end', carrierId }, signal)
    },
    state: async (carrierId, signal) => callStateOf(await ask({ name: 'state', carrierId }, signal)),
    async transfer(call, door, signal) {
      if (!has('transfer')) throw new TransferRefused('this carrier leads no calls elsewhere')
      await ask({ name: 'transfer', call, door: sentDoor(door, '') }, signal)
    },
  }
}

function sentDoor(door: StreamDoor, token: string): SentDoor {
  return { streamUrl: door.streamUrl(token), callbacks: door.callbackUrl('') }
}

/** What the engine of streams knows: whether there may be a call is told by the status. */
function apiFaultOf(error: unknown): ApiFault {
  const message = error instanceof Error ? error.message : String(error)
  return new ApiFault(message, findFailure(error)?.status, error)
}
