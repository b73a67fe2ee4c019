import { pino } from 'pino'
import t from 'tap'
import { SipCarrier } from '../../../../plugins/sip/carrier.ts'
import type { Leg, LegEvents } from '../../../../runtime/call/types/leg.ts'
import { compileGrants } from '../../../../runtime/plugin/grants/permissions.ts'
import { makeHost } from '../../../../runtime/plugin/make-host.ts'
import { NO_TRUNKS } from '../../../../runtime/plugin-sdk/telephony/trunk.ts'

/** A carrier of this process with the grants of an installation's, and nothing but a range of ports for media. */
function carrier(): SipCarrier {
  const first = 24_000 + Math.floor(Math.random() * 900) * 2
  const env = { PATCHBAY_SIP_PORT: '0', PATCHBAY_RTP_PORTS: `${first}-${first + 99}` }
  const names = [...Object.keys(env), 'PATCHBAY_SIP_HOST', 'PATCHBAY_SIP_PUBLIC_ADDRESS', 'PATCHBAY_HEP_URL']
  const grants = compileGrants({ net: [], listen: [`udp:${first}-${first + 99}`], env: names }, { env, baseDir: '/' })
  const stopping = new AbortController()
  t.teardown(() => stopping.abort())
  const host = makeHost({
    ...{
      plugin: 'sip',
      dir: import.meta.dirname,
      env,
      log: pino({ level: 'silent' }),
      signal: stopping.signal,
      grants,
    },
  })
  return new SipCarrier(host, NO_TRUNKS, {})
}

/** What an end of the call hears, and how it ends. */
function listen(leg: Leg) {
  const heard = { bytes: 0, keys: '' }
  const loud = Promise.withResolvers<void>()
  const keyed = Promise.withResolvers<string>()
  const ended = Promise.withResolvers<Parameters<LegEvents['ended']>[0]>()
  leg.start({
    audio: (bytes) => {
      if (bytes.some((one) => one !== 0xff)) loud.resolve()
    },
    text: () => undefined,
    dtmf: (digit) => {
      heard.keys += digit
      if (heard.keys.endsWith('#')) keyed.resolve(heard.keys)
    },
    played: () => undefined,
    ended: ended.resolve,
  })
  return { loud: loud.promise, keyed: keyed.promise, ended: ended.promise }
}

/** Talks until the other end has heard it. */
async function talk(leg: Leg, heard: Promise<void>): Promise<void> {
  const talking = setInterval(() => leg.sendAudio(new Uint8Array(160).fill(0x20)), 20)
  await heard
  clearInterval(talking)
}

for (const [how, line] of [
  ['a good line', { loss: 0, jitterMs: 0 }],
  ['a line that loses a fifth and delays the rest', { loss: 0.2, jitterMs: 40 }],
] as const) {
  t.test(`a call over loopback is answered, heard both ways and hung up on ${how}`, { timeout: 60_000 }, async (t) => {
    const call = await carrier().loopback({ ...line, codec: 'PCMU' }, AbortSignal.timeout(60_000))
    const agent = listen(call.called)
    call.called.answer()
    const calling = await call.calling
    const caller = listen(calling)
    await Promise.all([talk(calling, agent.loud), talk(call.called, caller.loud)])
    calling.sendDtmf?.('42#')
    t.equal(await agent.keyed, '42#')
    calling.close('over')
    t.equal(await agent.ended, 'caller_hangup')
    await call.close()
  })
}

t.test('a call whose line carries nothing ends with its signal', async (t) => {
  const stop = new AbortController()
  const call = carrier().loopback({ loss: 1, jitterMs: 0, codec: 'PCMA' }, stop.signal)
  setImmediate(() => stop.abort())
  await t.rejects(call, { name: 'CarrierFault', message: /given up/ })
})
