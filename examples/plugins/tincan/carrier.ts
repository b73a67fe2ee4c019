import {
  type CarrierNews,
  type DialFailure,
  type Host,
  ProviderError,
  type StreamShape,
  type Telephony,
} from '@patchbay/plugin'

const STREAM: StreamShape = {
  format: { encoding: 'pcm_s16le', sampleRateHz: 16_000 },
  closingEndsCall: false,
  clearReturnsMarks: true,
  reads: {
    name: 'event',
    start: { named: 'start', carrierId: 'call', token: 'token' },
    media: { named: 'sound', payload: 'pcm' },
    dtmf: { named: 'key', digit: 'key' },
    mark: { named: 'mark', name: 'name' },
    stop: { named: 'stop' },
  },
  writes: {
    media: { event: 'sound', pcm: '{payload}' },
    mark: { event: 'mark', name: '{name}' },
    clear: { event: 'clear' },
  },
}

/** Calls of a Tin Can account. Its requests are JSON; documents are the replies to them. */
export function tinCan(host: Host): Telephony {
  return {
    stream: STREAM,
    headers: ['tincan-signature'],
    documentType: 'application/json',
    async verify(request, urls) {
      const signature = request.header('tincan-signature')
      for (const url of urls) if (await isSigned(host, `${url}\n${request.body}`, signature)) return true
      return false
    },
    read: ({ event, query, body }) => newsOf(event, query.get('call') ?? '', JSON.parse(body)),
    join: ({ token }, { streamUrl }) => JSON.stringify({ action: 'stream', url: streamUrl(token), token }),
    reject: (as) => JSON.stringify({ action: 'reject', as }),
    async create({ callId, from, to, ringTimeoutMs }, token, { streamUrl, callbackUrl }, signal) {
      const order = {
        ...{ from, to, ringS: Math.ceil(ringTimeoutMs / 1000) },
        ...{ streamUrl: streamUrl(token), token, statusUrl: callbackUrl('status', { call: callId }) },
      }
      const answer = await ask(host, 'POST', '/calls', order, signal)
      if (answer.status === 422) return { invalidNumber: await answer.text() }
      return ((await answer.json()) as { id: string }).id
    },
    async end(id, signal) {
      await ask(host, 'DELETE', `/calls/${id}`, undefined, signal)
    },
    async state(id, signal) {
      const answer = await ask(host, 'GET', `/calls/${id}`, undefined, signal)
      if (answer.status === 404) return 'unknown'
      return ((await answer.json()) as { isLive: boolean }).isLive ? 'live' : 'ended'
    },
  }
}

/** What may be answered besides a success: there is no such call, and no such number. */
const EXPECTED = [404, 422]

export async function ask(
  host: Host,
  method: string,
  path: string,
  body: object | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const answer = await fetch(`${host.env.get('TINCAN_URL')}${path}`, {
    method,
    headers: { authorization: `Bearer ${host.env.get('TINCAN_KEY')}`, 'content-type': 'application/json' },
    signal,
    ...(body && { body: JSON.stringify(body) }),
  }).catch((cause) => {
    throw ProviderError.unreachable('Tin Can', cause)
  })
  if (answer.ok || EXPECTED.includes(answer.status)) return answer
  throw ProviderError.ofStatus('Tin Can', answer.status, await answer.text())
}

const FAILURES: Readonly<Record<string, DialFailure>> = { busy: 'busy', silent: 'no_answer' }

function newsOf(event: string, callId: string, message: Record<string, string>): CarrierNews | undefined {
  const { id: carrierId = '', from = '', to = '', state = '' } = message
  if (event === 'voice') return { type: 'incoming', carrierId, from, to }
  if (event !== 'status') return undefined
  if (state === 'ringing') return { type: 'progress', callId, news: { carrierId, ringing: true } }
  const failure = FAILURES[state]
  const over = { failure: failure ?? 'hung_up', answered: failure === undefined }
  return { type: 'progress', callId, news: { carrierId, over } }
}

/** HMAC-SHA256 under the account's key, in hexadecimal. */
async function isSigned(host: Host, text: string, signature: string): Promise<boolean> {
  const bytes = (value: string) => new TextEncoder().encode(value)
  const key = host.env.get('TINCAN_KEY') ?? ''
  if (key === '') return false
  const usage = { name: 'HMAC', hash: 'SHA-256' }
  const own = await crypto.subtle.importKey('raw', bytes(key), usage, false, ['verify'])
  const given = Uint8Array.from(signature.match(/../g) ?? [], (two) => Number.parseInt(two, 16))
  return crypto.subtle.verify('HMAC', own, given, bytes(text))
}
