import type { PhoneNumber } from '../../runtime/lib/phone-number.ts'
import type { StreamDoor, StreamProvider } from '../../runtime/plugin-sdk/telephony/stream/provider.ts'

const door: StreamDoor = {
  streamUrl: (token) => `wss://voice.example.com/stream/${token}`,
  callbackUrl: (event, query = {}) => `https://voice.example.com/${event}?${new URLSearchParams(query)}`,
}
const CALL = { callId: 'call_1', token: 'token_1' }
export const CARRIER_ID = 'CA00000000000000000000000000000001'

/** All that a carrier is asked for in the course of calls; what it is told in documents. */
export async function useCarrier(provider: StreamProvider): Promise<string[]> {
  const { signal } = new AbortController()
  const [from, to] = ['+14155550100', '+14155550101'] as const
  const order = { callId: CALL.callId, workspaceId: 'ws_1', from, to, ringTimeoutMs: 30_000 }
  for (const detectMachine of [false, true])
    await provider.create({ ...order, detectMachine }, CALL.token, door, signal)
  await provider.transfer({ carrierId: CARRIER_ID, from, to: to as PhoneNumber }, door, signal)
  await provider.state(CARRIER_ID, signal)
  await provider.end(CARRIER_ID, signal)
  const documents = [await provider.join(CALL, door), await provider.reject('busy'), await provider.reject('rejected')]
  if (provider.hangup !== undefined) documents.push(await provider.hangup())
  for (const document of documents) await provider.command?.(CARRIER_ID, document, signal)
  return documents
}

/** The elements of a document and their attributes. */
export function elementsOf(xml: string): { name: string; attributes: Record<string, string> }[] {
  return [...xml.matchAll(/<(\w+)((?:\s+\w+="[^"]*")*)\s*\/?>/g)].map(([, name = '', attributes = '']) => ({
    name,
    attributes: Object.fromEntries(
      [...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, attribute, value]) => [attribute, value]),
    ),
  }))
}
