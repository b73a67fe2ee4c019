import { isPublicAddress } from '../../../runtime/lib/address.ts'
import type { CallFinding } from '../../../runtime/plugin-sdk/telephony/carrier.ts'
import type { Trunk } from '../../../runtime/plugin-sdk/telephony/trunk.ts'
import type { WireMessage } from '../../../runtime/plugin-sdk/telephony/wire-message.ts'
import type { SeenCall } from './test-call.ts'

interface ObservedCall extends SeenCall {
  messages: readonly WireMessage[]
  /** Undefined: there is none of this name. */
  trunk: Trunk | undefined
}

/** The callee's own doing, and not a fault of the trunk. */
const REACHED: ReadonlySet<string> = new Set(['busy', 'no_answer', 'rejected', 'hung_up'])
/** Of the other side's packets, those that never came: from here on speech is hard to follow. */
const MOST_LOSS = 0.05

/** What the status of a refused call most often means on a trunk, and what cures it. */
function cureOf({ failure, figures }: SeenCall, trunk: Trunk): string | undefined {
  const { sipStatus, cause } = figures
  if (failure?.kind === 'blocked') {
    return 'register our number with the analytics services, object where the answer says, or call from another number'
  }
  if (cause === 'silent' || cause === 'stalled') {
    return 'see whether host, port and transport are right and the carrier is up, and set fallback_trunk'
  }
  switch (sipStatus) {
    case 300:
    case 301:
    case 302:
    case 305:
    case 380:
      return 'turn the forwarding off there, or allow its destination in countries and number_types'
    case 401:
    case 407:
      return 'the user name or password is wrong: correct username, auth_username and password'
    case 403:
      return 'it knows us and refuses: ask the carrier whether our number is one of this trunk, whether this destination is open, and whether our address is on its list'
    case 404:
    case 484:
    case 604:
      return 'it does not know the number as we write it: see what form the carrier wants, and set tech_prefix where it wants a prefix'
    case 415:
    case 488:
    case 606:
      return `it takes none of our codecs (${trunk.codecs.join(', ')}) or wants other encryption: change codecs, or media_encryption (now ${trunk.settings.media_encryption})`
    case 420:
    case 421:
      return 'it asks for an extension of SIP that we lack: turn it off at the peer'
    case 500:
    case 502:
    case 503:
    case 504:
      return 'the carrier has a fault, or no channel free: try again, and set fallback_trunk'
    default:
      return undefined
  }
}

/**
 * Explains a test call by what it was and what both sides said: what works, and of what doesn't the cure. A call that nobody
 * answered has one finding.
 */
export function explainCall(call: ObservedCall): CallFinding[] {
  const { failure, trunk, figures } = call
  if (failure !== undefined || trunk === undefined) {
    const detail = (failure?.detail ?? 'the call was refused').replace(/^SIP error: /, '')
    const isReached = failure !== undefined && REACHED.has(failure.kind)
    const cure = trunk && !isReached ? cureOf(call, trunk) : 'sound was not tried: have somebody answer'
    return [{ check: 'call', ok: isReached, text: cure === undefined ? detail : `${detail}; ${cure}` }]
  }
  const answer = call.messages.findLast((one) => one.direction === 'in' && isAnswer(one.text, 'INVITE'))
  const offer = call.messages.find((one) => one.direction === 'out' && one.text.startsWith('INVITE '))
  const pdd = figures.pddMs === undefined ? '' : `; the first sign of life came after ${figures.pddMs} ms`
  return [
    { check: 'call', ok: true, text: `it was answered${pdd}` },
    codecOf(call, answer?.text ?? ''),
    encryptionOf(answer?.text ?? '', trunk),
    addressesOf(offer, answer),
    soundIn(call),
    soundOut(call),
    keysOf(call, offer?.text ?? '', answer?.text ?? ''),
    holdOf(call),
    sessionTimerOf(answer?.text ?? ''),
    transferOf(answer?.text ?? ''),
    endOf(call),
  ]
}

function codecOf({ media }: ObservedCall, answer: string): CallFinding {
  const formats = /^m=audio \d+ \S+ ([\d ]+)/m.exec(answer)?.[1]?.trim().split(' ') ?? []
  const named = formats.map(
    (type) => new RegExp(`^a=rtpmap:${type} ([\\w.-]+)`, 'm').exec(answer)?.[1] ?? STATIC[type] ?? type,
  )
  const choice = named.length === 0 ? '' : `; it answered ${named.join(', ')}`
  return { check: 'codec', ok: true, text: `sound goes as ${media?.codec ?? 'nothing'}${choice}` }
}
const STATIC: Readonly<Record<string, string>> = { '0': 'PCMU', '8': 'PCMA', '9': 'G722', '18': 'G729' }

function encryptionOf(answer: string, { settings }: Trunk): CallFinding {
  const isEncrypted = /^m=audio \d+ RTP\/SAVPF? /m.test(answer) || /^a=crypto:/m.test(answer)
  if (isEncrypted) return { check: 'encryption', ok: true, text: 'sound is encrypted (SRTP)' }
  const why =
    settings.media_encryption === 'off'
      ? 'media_encryption of the trunk is off'
      : 'the other side took none of the keys that we offered'
  return { check: 'encryption', ok: true, text: `sound is not encrypted: ${why}` }
}

/** Where each side says that it wants its sound, against where it is. */
function addressesOf(offer: WireMessage | undefined, answer: WireMessage | undefined): CallFinding {
  const [ours, theirs] = [namedIn(offer?.text), namedIn(answer?.text)]
  const peer = answer?.remote.address ?? ''
  const isFar = isPublicAddress(peer)
  if (ours !== undefined && isFar && !isPublicAddress(ours)) {
    return {
      check: 'addresses',
      ok: false,
      text: `we ask for sound at ${ours}, which nobody outside of our network reaches: set PATCHBAY_SIP_PUBLIC_ADDRESS to our address on the internet`,
    }
  }
  if (theirs !== undefined && isFar && !isPublicAddress(theirs)) {
    return {
      check: 'addresses',
      ok: true,
      text: `it asks for sound at ${theirs}, which lies behind a NAT: ours goes where its packets come from`,
    }
  }
  return {
    check: 'addresses',
    ok: true,
    text: `sound goes to ${theirs ?? 'nowhere'}, and comes to ${ours ?? 'nowhere'}`,
  }
}

const namedIn = (text: string | undefined): string | undefined => /^c=IN IP[46] ([^\s/]+)/m.exec(text ?? '')?.[1]

function soundIn({ media, isLoud }: ObservedCall): CallFinding {
  const { packets = 0, loss = 0, jitterMs = 0, burstMs = 0, mos } = media ?? {}
  const fault = (text: string): CallFinding => ({ check: 'sound_in', ok: false, text })
  if (packets === 0) {
    return fault(
      'not one packet of sound came: open the ports of PATCHBAY_RTP_PORTS for UDP in the firewall and forward them in the NAT; where media come from other addresses than signalling, add them to allowed_addresses',
    )
  }
  const bursts = burstMs === 0 ? '' : ` in bursts of ${burstMs} ms`
  const figures = `${packets} packets, ${(loss * 100).toFixed(1)} % lost${bursts}, jitter ${jitterMs} ms${mos === undefined ? '' : `, MOS ${mos}`}`
  if (loss > MOST_LOSS) return fault(`sound comes with gaps (${figures}): look at the line between the carrier and us`)
  const heard = isLoud ? 'sound comes' : 'packets come, with silence in them: nobody spoke, or the other side is muted'
  return { check: 'sound_in', ok: true, text: `${heard} (${figures})` }
}

function soundOut({ media }: ObservedCall): CallFinding {
  if (media?.oneWay === 'not_heard') {
    return {
      check: 'sound_out',
      ok: false,
      text: 'its reports say that none of our packets reach it: our UDP is blocked on the way out, or its description names an address that leads elsewhere (see addresses)',
    }
  }
  const rtt = media?.rttMs
  const known =
    rtt === undefined
      ? 'it sends no reports (RTCP): the callee should hear their own words'
      : `its reports say that it gets ours; there and back takes ${rtt} ms`
  return { check: 'sound_out', ok: true, text: known }
}

function keysOf({ keys, messages }: ObservedCall, offer: string, answer: string): CallFinding {
  const [ours, theirs] = [eventsOf(offer), eventsOf(answer)]
  const numbers = ours === undefined || ours === theirs ? '' : `, on its number ${theirs}; its own come on our ${ours}`
  const way =
    theirs === undefined
      ? 'in the sound, for its answer names no telephone-event'
      : `as telephone events (RFC 4733${numbers})`
  const isTold = messages.some(({ direction, text }) => direction === 'in' && text.startsWith('INFO '))
  const came =
    keys === '' ? 'no key was pressed' : `the keys ${keys.slice(0, 20)} came${isTold ? ', also by INFO' : ''}`
  return { check: 'keys', ok: true, text: `${came}; ours go ${way}` }
}

/** The payload type that a description gives telephone events. */
const eventsOf = (text: string): string | undefined => /^a=rtpmap:(\d+) telephone-event\//im.exec(text)?.[1]

function holdOf({ hold, isLoudAfterHold }: ObservedCall): CallFinding {
  if (hold === 'none')
    return { check: 'hold', ok: true, text: 'not tried: hold the call and take it back while it lasts' }
  if (hold === 'held') return { check: 'hold', ok: true, text: 'it held the call, and did not take it back' }
  const after = isLoudAfterHold
    ? 'and sound came again'
    : 'and no sound came afterwards: speak once the call is taken back'
  return { check: 'hold', ok: isLoudAfterHold, text: `it held the call and took it back, ${after}` }
}

function sessionTimerOf(answer: string): CallFinding {
  const [, seconds, refresher] =
    /^(?:session-expires|x)\s*:\s*(\d+)(?:.*refresher\s*=\s*(ua[cs]))?/im.exec(answer) ?? []
  const text =
    seconds === undefined
      ? 'it keeps no session timer: a call whose other side vanishes ends when its sound does, and one that is held is asked for every five minutes'
      : `each call is refreshed within ${seconds} s, by ${refresher?.toLowerCase() === 'uas' ? 'the other side' : 'us'}`
  return { check: 'session_timer', ok: true, text }
}

function transferOf(answer: string): CallFinding {
  const allowed = [...answer.matchAll(/^allow\s*:\s*(.*)$/gim)].map(([, methods]) => methods).join(',')
  const takes = /\bREFER\b/i.test(allowed)
  return {
    check: 'transfer',
    ok: true,
    text: takes
      ? 'it names REFER: a transfer is asked of the other side, which leads the call itself'
      : `${allowed === '' ? 'it does not say what it allows' : 'it names no REFER'}: where it refuses one, Patchbay calls the target and joins both`,
  }
}

function endOf({ endedBy, messages }: ObservedCall): CallFinding {
  if (endedBy === 'connection_lost') {
    return {
      check: 'end',
      ok: false,
      text: 'the connection was lost: no packet came any more, or its session timer ran out',
    }
  }
  if (endedBy !== undefined) return { check: 'end', ok: true, text: 'the other side hung up' }
  const said = messages.find((one) => one.direction === 'in' && isAnswer(one.text, 'BYE', /^SIP\/2\.0 \d/))
  const isTaken = said !== undefined && /^SIP\/2\.0 2/.test(said.text)
  if (isTaken) return { check: 'end', ok: true, text: 'we hung up, and it said so' }
  return {
    check: 'end',
    ok: false,
    text: `our BYE was ${said === undefined ? 'not answered' : `refused (${said.text.slice(8, 40).split('\r')[0]})`}: calls may go on there, and be charged; look at the Contact and Record-Route of its answers`,
  }
}

function isAnswer(text: string, method: 'INVITE' | 'BYE', status = /^SIP\/2\.0 2/): boolean {
  return status.test(text) && new RegExp(`^cseq\\s*:\\s*\\d+\\s+${method}`, 'im').test(text)
}
