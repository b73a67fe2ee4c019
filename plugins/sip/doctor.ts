import type { CarrierFinding, TrunkFinding } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import { contactOf, SUPPORTED, USER_AGENT } from './dialog/context.ts'
import { MAX_FORWARDS } from './dialog/dialog.ts'
import type { MediaPair } from './media/media-ports.ts'
import type { OutgoingRequest, SipHeader, SipResponse } from './message/message.ts'
import { formatHost, reasonOf } from './message/serializer.ts'
import type { SipStack } from './stack.ts'
import { Authenticator, sendAuthenticated } from './transaction/authenticator.ts'
import type { Flow } from './transport/flow.ts'
import type { ActiveTrunk } from './trunk/trunk-table.ts'

const ANSWER_TIMEOUT_MS = 6_000
const MEDIA_TIMEOUT_MS = 1_000

/** Looks at SIP of this process: its ports, and each trunk as the trunk sees it. */
export async function diagnose(stack: SipStack, listens: boolean): Promise<CarrierFinding[]> {
  const own = listening(stack, listens)
  if (!own.ok) return [own]
  const trunks = stack.trunks.all().filter(({ isLocal }) => !isLocal)
  const each = await Promise.all(
    trunks.map(async (active) =>
      (await lookAt(stack, active)).map(({ ok, text }) => ({ ok, text: `trunk ${active.trunk.name}: ${text}` })),
    ),
  )
  return [own, ...each.flat()]
}

/** Looks at one trunk of this process, and at the port that it needs. */
export async function diagnoseTrunk(stack: SipStack, listens: boolean, trunkId: string): Promise<TrunkFinding[]> {
  const own = listening(stack, listens)
  if (!own.ok) return [own]
  if (stack.trunks.byId(trunkId) === undefined) await stack.trunks.refresh()
  const active = stack.trunks.byId(trunkId)
  if (active === undefined) {
    return [{ check: 'listens', ok: false, text: 'This node has not heard of the trunk yet; try again in a moment' }]
  }
  return [own, ...(await lookAt(stack, active))]
}

function listening(stack: SipStack, listens: boolean): TrunkFinding {
  return listens
    ? { check: 'listens', ok: true, text: `SIP listens on port ${stack.port}` }
    : {
        check: 'listens',
        ok: false,
        text: 'SIP does not listen: PATCHBAY_SIP_PORT is 0, or another program has the port',
      }
}

async function lookAt(stack: SipStack, active: ActiveTrunk): Promise<TrunkFinding[]> {
  const { username, host, transport } = active.trunk
  const findings: TrunkFinding[] = []
  const note: Note = (check, ok, text) => {
    findings.push({ check, ok, text })
  }
  const addresses = await stack.resolve(active.host).catch((): string[] => [])
  if (addresses.length === 0) {
    note('address', false, `"${active.host}" has no address; correct the host, or the DNS of this machine`)
    return findings
  }
  const isAddress = addresses.includes(active.host)
  note('address', true, isAddress ? `${active.host} is an address` : `${active.host} is ${addresses.join(', ')}`)
  let flow: Flow
  try {
    flow = await stack.flowTo(active)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    note('connection', false, `no ${transport.toUpperCase()} connection: ${why}`)
    return findings
  }
  const options = await ask(stack, active, flow, 'OPTIONS')
  if (options === undefined) {
    const over = transport.toUpperCase()
    note('answers', false, `OPTIONS to ${host} over ${over} got no answer; a firewall, or not a SIP server`)
    return findings
  }
  note('answers', true, `OPTIONS was answered with ${options.status} ${reasonOf(options.status)}`)
  findNat(options, flow, note)
  if (username !== undefined) findCredentials(await ask(stack, active, flow, 'REGISTER'), note)
  await findMedia(stack, flow, note)
  return findings
}

type Note = (check: TrunkFinding['check'], ok: boolean, text: string) => void

/** The top Via comes back with the address the trunk saw (RFC 3581). */
function findNat(response: SipResponse, flow: Flow, note: Note): void {
  const via = response.vias[0]
  const seen = via?.params.get('received') ?? via?.host
  if (seen === flow.local.host) note('seen_as', true, `it sees us at ${seen}, which is what we tell it`)
  else if (seen !== undefined) {
    note(
      'seen_as',
      false,
      `it sees us at ${seen}, but we tell it ${flow.local.host}; set PATCHBAY_SIP_PUBLIC_ADDRESS=${seen}`,
    )
  }
}

function findCredentials(response: SipResponse | undefined, note: Note): void {
  const status = response?.status
  if (status === undefined)
    note('credentials', false, 'REGISTER got no answer: the username and password could not be tried')
  else if (status < 300) note('credentials', true, 'the username and password are right')
  else if (status === 401 || status === 403 || status === 407) {
    note('credentials', false, `the username or password is wrong (${status} ${response?.reason ?? ''})`)
  } else note('credentials', true, `it takes no registrations (${status}): the password is tried with the first call`)
}

/** A packet from our media port to the address we tell the trunk: it comes back unless something stands between. */
async function findMedia(stack: SipStack, flow: Flow, note: Note): Promise<void> {
  const pair: MediaPair | undefined = await stack.ports.take().catch(() => undefined)
  if (pair === undefined) {
    note('media', false, 'no media port is free in PATCHBAY_RTP_PORTS')
    return
  }
  const arrived = await new Promise<boolean>((resolve) => {
    const cancel = stack.context.timers.after(MEDIA_TIMEOUT_MS, () => resolve(false))
    pair.rtp.receive(() => {
      cancel()
      resolve(true)
    })
    pair.rtcp.send(Buffer.from('media?'), pair.rtp.port, flow.local.host)
  })
  const where = `${flow.local.host}:${pair.rtp.port}`
  stack.ports.release(pair)
  note(
    'media',
    arrived,
    arrived
      ? `media to ${where} arrive from this machine; from outside, UDP ${stack.rtpRange} must be open`
      : `media to ${where} do not arrive; open UDP ${stack.rtpRange} in the firewall and forward it in the NAT`,
  )
}

/** A request outside a dialog; undefined after a timeout. REGISTER without Contact only asks (section 10.2.3). */
function ask(
  stack: SipStack,
  active: ActiveTrunk,
  flow: Flow,
  method: 'OPTIONS' | 'REGISTER',
): Promise<SipResponse | undefined> {
  const { context } = stack
  const { username, password = '' } = active.trunk
  const server = `sip:${formatHost(active.host)}`
  const user = username === undefined ? server : `sip:${encodeURIComponent(username)}@${formatHost(active.host)}`
  const callId = context.token()
  const tag = context.token()
  let sequence = 0
  const make = (extra: readonly SipHeader[]): OutgoingRequest => ({
    method,
    uri: server,
    headers: [
      MAX_FORWARDS,
      { name: 'from', value: `<${user}>;tag=${tag}` },
      { name: 'to', value: `<${method === 'REGISTER' ? user : server}>` },
      { name: 'call-id', value: callId },
      { name: 'cseq', value: `${++sequence} ${method}` },
      ...(method === 'REGISTER' ? [] : [contactOf(flow)]),
      SUPPORTED,
      USER_AGENT,
      ...extra,
    ],
  })
  const authenticator = username === undefined ? undefined : new Authenticator({ username, password }, context.token)
  return new Promise((resolve) => {
    const cancel = context.timers.after(ANSWER_TIMEOUT_MS, () => resolve(undefined))
    const settle = (response?: SipResponse): void => {
      cancel()
      resolve(response)
    }
    sendAuthenticated(context.transactions, authenticator, flow, make, { final: settle, failed: () => settle() })
  })
}
