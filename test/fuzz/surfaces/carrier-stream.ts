import { hostileText, mutatedJson } from '../mutate.ts'
import type { Random } from '../random.ts'
import type { Surface } from '../surface.ts'
import { leave, openSocket } from '../world.ts'

const CARRIERS = ['telnyx', 'plivo', 'twilio'] as const
const MESSAGES = 20
const WAIT_MS = 100

/** Media streams and events as carriers send them: without a token, with a made-up one, signed and not. */
export const carrierStream: Surface = {
  name: 'carrier-stream',
  atOnce: 6,
  async open(world, random) {
    const webhook = async () => {
      const carrier = random.pick(CARRIERS)
      const path = random.pick([
        `/telephony/${carrier}/event`,
        `/telephony/${carrier}/voice`,
        `/telephony/${carrier}/status`,
      ])
      const payload = {
        call_control_id: 'v3:fuzz',
        client_state: Buffer.from(hostileText(random, 2_000)).toString('base64'),
        direction: random.pick(['incoming', 'outgoing']),
        from: '+14155550100',
        to: world.sipNumber,
      }
      const body = mutatedJson(random, { data: { event_type: random.pick(EVENTS), payload } }, 0.15)
      const headers =
        carrier === 'telnyx' ? world.telnyxHeaders(body) : { 'content-type': 'application/x-www-form-urlencoded' }
      const answer = await fetch(world.instance.url + path, { method: 'POST', body, headers })
      await answer.arrayBuffer()
    }
    return {
      attempt: async () => {
        if (random.chance(0.4)) return webhook()
        const carrier = random.pick(CARRIERS)
        const socket = await openSocket(world, `/telephony/${carrier}/stream${random.pick(['', '?token=x', '/x'])}`)
        if (socket === undefined) return
        for (let i = 0; i < MESSAGES && socket.readyState === socket.OPEN; i++) {
          socket.send(
            random.chance(0.1) ? random.bytes(random.below(2_000)) : mutatedJson(random, message(random), 0.15),
          )
        }
        await new Promise((resolve) => setTimeout(resolve, WAIT_MS))
        await leave(socket)
      },
    }
  },
}

const EVENTS = [
  'call.initiated',
  'call.answered',
  'call.hangup',
  'streaming.started',
  'call.machine.detection.ended',
  'x',
]

function message(random: Random): unknown {
  return random.pick([
    { event: 'connected', version: '1.0.0', protocol: 'Call' },
    {
      event: 'start',
      sequence_number: '1',
      stream_id: 's1',
      streamSid: 'MZ1',
      start: {
        call_control_id: 'v3:fuzz',
        callSid: 'CA1',
        callId: 'c',
        streamId: 's1',
        tracks: ['inbound'],
        client_state: 'eA==',
        customParameters: { token: 'x' },
        media_format: { encoding: 'PCMU', sample_rate: 8_000 },
      },
      extra_headers: '{token: x}',
    },
    {
      event: 'media',
      stream_id: 's1',
      streamSid: 'MZ1',
      media: { track: 'inbound', chunk: '1', timestamp: '0', payload: '//8=' },
    },
    { event: 'dtmf', stream_id: 's1', dtmf: { digit: '7' } },
    { event: 'mark', streamSid: 'MZ1', mark: { name: 'x' } },
    { event: 'stop', stream_id: 's1' },
  ])
}
