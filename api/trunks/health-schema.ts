import { type Static, Type } from 'typebox'
import { CALL_CHECKS, TRUNK_CHECKS } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import type { TrunkAttempt } from '../../runtime/plugin-sdk/telephony/trunk.ts'
import type { AttemptHour } from '../../store/redis/trunk-attempts.ts'
import { DialTargetInput, Id, Instant, PhoneNumberInput } from '../schema.ts'

export const TrunkHealthBody = Type.Object({
  trunk_id: Id,
  attempts: Type.Array(
    Type.Object({
      at: Instant,
      method: Type.Enum(['REGISTER', 'OPTIONS']),
      ok: Type.Boolean({ description: 'Registered; of OPTIONS: somebody answered, whatever it said.' }),
      status: Type.Integer({ description: 'What it said; 0: nothing.' }),
      reason: Type.String(),
    }),
    { description: 'What it was asked and answered, newest first: the last fifty.' },
  ),
  hours: Type.Array(
    Type.Object({
      start: Instant,
      ok: Type.Integer(),
      failed: Type.Integer(),
    }),
    {
      description:
        'How many of them there were in each hour of a week, oldest first. An hour without any was not asked in.',
    },
  ),
})

export const TrunkCheckBody = Type.Object({
  trunk_id: Id,
  checked_at: Instant,
  healthy: Type.Boolean({ description: 'Every check went well.' }),
  findings: Type.Array(
    Type.Object({
      check: Type.Enum([...TRUNK_CHECKS]),
      ok: Type.Boolean(),
      text: Type.String({ description: 'What was found; where it is a fault, with the cure.' }),
    }),
    { description: 'In the order they were made; one that fails may leave the next ones out.' },
  ),
})

export const TestCallInput = Type.Object({
  phone_number_to_dial: DialTargetInput(
    'A number, extension or SIP URI where somebody answers, such as your own phone. The rules of every call hold for it, too.',
  ),
  agent_phone_number: Type.Optional(
    PhoneNumberInput('A number of the trunk, which the callee sees. Default: the first of its numbers, or its user.'),
  ),
})

export const TestCallBody = Type.Object({
  trunk_id: Id,
  checked_at: Instant,
  healthy: Type.Boolean({ description: 'Nothing of what was seen is a fault.' }),
  from_number: Type.String(),
  findings: Type.Array(
    Type.Object({
      check: Type.Enum([...CALL_CHECKS]),
      ok: Type.Boolean(),
      text: Type.String({ description: 'What was seen; where it is a fault, with the cure.' }),
    }),
    { description: 'Of a call that was not answered there is `call` alone.' },
  ),
  ladder: Type.String({ description: 'The SIP messages of the call as a diagram, a line each, without secrets.' }),
})

export function trunkHealthBody(
  trunkId: string,
  attempts: readonly TrunkAttempt[],
  hours: readonly AttemptHour[],
): Static<typeof TrunkHealthBody> {
  return {
    trunk_id: trunkId,
    attempts: attempts.map(({ atMs, ...attempt }) => ({ at: new Date(atMs).toISOString(), ...attempt })),
    hours: hours.map(({ startMs, ok, failed }) => ({ start: new Date(startMs).toISOString(), ok, failed })),
  }
}

const trunk_id = '0197f3a2-7c1e-7000-8000-000000000009'

export const trunkHealthExample: Static<typeof TrunkHealthBody> = {
  trunk_id,
  attempts: [{ at: '2026-01-31T09:00:00.000Z', method: 'REGISTER', ok: true, status: 200, reason: 'OK' }],
  hours: [{ start: '2026-01-31T09:00:00.000Z', ok: 24, failed: 0 }],
}

export const trunkCheckExample: Static<typeof TrunkCheckBody> = {
  trunk_id,
  checked_at: '2026-01-31T09:00:00.000Z',
  healthy: false,
  findings: [
    { check: 'listens', ok: true, text: 'SIP listens on port 5060' },
    { check: 'address', ok: true, text: 'sip.example.com is 192.0.2.10' },
    {
      check: 'answers',
      ok: false,
      text: 'OPTIONS to sip.example.com over UDP got no answer; a firewall, or not a SIP server',
    },
  ],
}

export const testCallExample: Static<typeof TestCallBody> = {
  trunk_id,
  checked_at: '2026-01-31T09:00:00.000Z',
  healthy: false,
  from_number: '+14155550100',
  findings: [
    { check: 'call', ok: true, text: 'it was answered; the first sign of life came after 840 ms' },
    {
      check: 'sound_in',
      ok: false,
      text: 'not one packet of sound came: open the ports of PATCHBAY_RTP_PORTS for UDP in the firewall and forward them in the NAT',
    },
  ],
  ladder: '    0.000 s  Patchbay INVITE (SDP) --------------------------> 192.0.2.1:5060 udp',
}
