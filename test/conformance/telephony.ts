import type { Test } from 'tap'
import { uuidv7 } from 'uuidv7'
import type { Leg, LegEvents } from '../../runtime/call/types/leg.ts'
import type { PhoneNumber } from '../../runtime/lib/phone-number.ts'
import type { Carrier, DialEvents } from '../../runtime/plugin-sdk/telephony/carrier.ts'

export interface TelephonySuite {
  make(): Carrier | Promise<Carrier>
  from: string
  /** Numbers that behave like this, whenever they are dialled. */
  answers: string
  busy: string
  rings: string
  limitMs?: number
}

/** What became of one order, in the order it was told. */
export class DialLog implements DialEvents {
  readonly told: string[] = []
  leg: Leg | undefined
  readonly over = Promise.withResolvers<void>()
  readonly rang = Promise.withResolvers<void>()

  ringing(): void {
    this.told.push('ringing')
    this.rang.resolve()
  }

  answered(leg: Leg, by: string): void {
    this.told.push(`answered by ${by}`)
    this.leg = leg
    this.over.resolve()
  }

  failed(failure: string): void {
    this.told.push(failure)
    this.over.resolve()
  }
}

/** Collects what a leg says. */
export function listen(leg: Leg) {
  const heard: { bytes: Uint8Array; timestamp: number }[] = []
  const ended = Promise.withResolvers<string>()
  const played: number[] = []
  const events: LegEvents = {
    audio: (bytes, timestamp) => heard.push({ bytes: bytes.slice(), timestamp }),
    text: () => {},
    dtmf: () => {},
    played: (id) => played.push(id),
    ended: (reason) => ended.resolve(reason),
  }
  leg.start(events)
  leg.answer()
  return { heard, played, ended: ended.promise }
}

/** What every carrier must do, whoever provides it. */
export async function runTelephonyConformance(t: Test, suite: TelephonySuite): Promise<void> {
  const { make, limitMs = 120_000 } = suite
  const signal = () => AbortSignal.timeout(limitMs)
  const carrier = await make()
  const dial = async (to: string) => {
    const log = new DialLog()
    const callId = uuidv7()
    const numbers = { from: suite.from as PhoneNumber, to: to as PhoneNumber }
    await carrier.dial({ callId, workspaceId: uuidv7(), ...numbers, ringTimeoutMs: 300_000 }, log, signal())
    return { callId, log }
  }

  await t.test('an answered call rings first, then hands over a leg with live audio', async (t) => {
    const { callId, log } = await dial(suite.answers)
    t.equal(await carrier.lookup(callId, signal()), 'live', 'the carrier knows it by our id')
    await log.over.promise
    t.equal(log.told.at(-1), 'answered by human')
    t.ok(log.told.slice(0, -1).every((what) => what === 'ringing'))
    const { heard, ended } = listen(log.leg!)
    while (heard.length < 10) await new Promise((resolve) => setTimeout(resolve, 20))
    const samples = heard.map(({ bytes }) => bytes.length)
    t.ok(
      heard.every(({ timestamp }, i) => i === 0 || timestamp >= heard[i - 1]!.timestamp + samples[i - 1]!),
      'time goes on',
    )
    await carrier.hangup(callId, signal())
    t.not(await carrier.lookup(callId, signal()), 'live')
    const after = heard.length
    await new Promise((resolve) => setTimeout(resolve, 100))
    t.equal(heard.length, after, 'nothing comes after the end')
    log.leg!.sendAudio(new Uint8Array(160))
    log.leg!.close('again')
    await Promise.race([ended, Promise.resolve()])
  })

  await t.test('a busy line is told once, and is no live call', async (t) => {
    const { callId, log } = await dial(suite.busy)
    await log.over.promise
    t.equal(log.told.at(-1), 'busy')
    t.not(await carrier.lookup(callId, signal()), 'live')
  })

  await t.test('a call that rings can be taken back', async (t) => {
    const { callId, log } = await dial(suite.rings)
    await log.rang.promise
    await carrier.hangup(callId, signal())
    await log.over.promise
    t.equal(log.told.at(-1), 'canceled')
    await carrier.hangup(callId, signal())
    t.equal(log.told.filter((what) => what === 'canceled').length, 1, 'told once')
  })

  await t.test('a call nobody knows can be hung up and asked about', async (t) => {
    const callId = uuidv7()
    await carrier.hangup(callId, signal())
    t.equal(await carrier.lookup(callId, signal()), 'unknown')
  })
}
