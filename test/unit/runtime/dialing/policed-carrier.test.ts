import t from 'tap'
import { Carriers } from '../../../../runtime/dialing/carriers.ts'
import { NO_DIAL_RULES } from '../../../../runtime/dialing/dial-policy.ts'
import type { PluginRegistry } from '../../../../runtime/plugin/host.ts'
import type { Carrier, DialOrder, DialRules, TransferCase } from '../../../../runtime/plugin-sdk/telephony/carrier.ts'
import { NO_TRUNKS, type Trunk } from '../../../../runtime/plugin-sdk/telephony/trunk.ts'
import { trunkOf } from '../../../system/plugins/sip/support/carrier.ts'

/** Every carrier that the core has goes through the dial policy, whichever way a call is placed or led on. */

class RecordingCarrier implements Carrier {
  readonly asked: string[] = []
  readonly orders: (DialOrder | TransferCase)[] = []
  readonly takesNames?: boolean
  readonly trunkOf?: (workspaceId: string, name: string | undefined) => Promise<Trunk | undefined>
  readonly refusals = new Map([['trunk_busy', 2]])

  constructor(trunk?: Trunk) {
    if (trunk === undefined) return
    this.takesNames = true
    this.trunkOf = async (workspaceId, name) =>
      workspaceId === 'w' && (name === undefined || name === trunk.name) ? trunk : undefined
  }

  async dial(order: DialOrder): Promise<void> {
    this.asked.push(order.to)
    this.orders.push(order)
  }

  async transfer(_callId: string, to: string, _signal: AbortSignal, by: TransferCase): Promise<void> {
    this.asked.push(to)
    this.orders.push(by)
  }

  async hangup(): Promise<void> {}

  async lookup(): Promise<'unknown'> {
    return 'unknown'
  }
}

function carriersOf(made: Readonly<Record<string, Carrier>>, rules: DialRules = NO_DIAL_RULES): Carriers {
  const plugins = { titleOf: (name: string) => name, create: async (_kind: string, name: string) => made[name] }
  return new Carriers(plugins as unknown as PluginRegistry, NO_TRUNKS, undefined, async () => rules)
}

const SIGNAL = AbortSignal.timeout(60_000)
const BY = { workspaceId: 'w', from: '+14155550100' }

/** Calls there in one of the ways there are; resolves with the refusal. */
const WAYS: Readonly<Record<string, (carrier: Carrier, to: string) => Promise<string | undefined>>> = {
  'a first leg': async (carrier, to) => {
    const refused: string[] = []
    const events = {
      ringing: () => undefined,
      answered: () => undefined,
      failed: (failure: string, detail?: string) => refused.push(`${failure}: ${detail}`),
    }
    await carrier.dial({ ...BY, callId: 'c', to, ringTimeoutMs: 1_000 }, events, SIGNAL)
    return refused[0]
  },
  'the leg that somebody is consulted or led to by': async (carrier, to) => {
    const refused: string[] = []
    const order = { ...BY, callId: 'c.2', to, ringTimeoutMs: 1_000, onBehalfOf: '+14155550123' }
    await carrier.dial(
      order,
      {
        ringing: () => undefined,
        answered: () => undefined,
        failed: (failure, detail) => refused.push(`${failure}: ${detail}`),
      },
      SIGNAL,
    )
    return refused[0]
  },
  'a transfer by the carrier': async (carrier, to) => {
    try {
      await carrier.transfer?.('c', to, SIGNAL, BY)
      return undefined
    } catch (error) {
      return `carrier: ${(error as Error).message}`
    }
  },
}

const MAY = ['+14155550177', '+18005550199'] as const
const MAY_NOT = [
  ['+19005550123', /premium/],
  ['+881612345678', /satellite/],
  ['+24762212', /AC is not among the countries/],
  ['+442079460018', /GB is not among the countries/],
  ['x@evil.example>;method=INVITE?Subject=hi', /can't be called/],
  ['911', /can't be called|emergency/],
] as const

for (const name of ['sip', 'twilio', 'telnyx', 'plivo', 'sim']) {
  for (const [way, call] of Object.entries(WAYS)) {
    t.test(`${name}: ${way} is judged before the carrier is asked`, async (t) => {
      const raw = new RecordingCarrier(name === 'sip' ? trunkOf({ name: 'main', host: 'pbx.example' }) : undefined)
      const carrier = await carriersOf({ [name]: raw }).get(name)
      for (const [to, why] of MAY_NOT) t.match(await call(carrier, to), why, to)
      t.same(raw.asked, [], 'the carrier was asked for nothing')
      const counted = [...(carrier.refusals ?? [])].filter(([reason]) => reason !== 'trunk_busy')
      t.equal(
        counted.reduce((sum, [, count]) => sum + count, 0),
        MAY_NOT.length,
        'each is counted',
      )
      t.equal(carrier.refusals?.get('trunk_busy'), 2, "beside the carrier's own")
      for (const to of MAY) t.equal(await call(carrier, to), undefined, to)
      t.same(raw.asked, MAY)
      t.ok(
        raw.orders.every(({ rules }) => rules === NO_DIAL_RULES),
        'it judges by the same where the call is led on',
      )
    })
  }
}

t.test('what the operator allows counts at the next call', async (t) => {
  const raw = new RecordingCarrier()
  const operator = { countries: ['US', 'GB'], numberTypes: ['mobile', 'fixed_line'] as const }
  const carrier = await carriersOf({ twilio: raw }, { ...NO_DIAL_RULES, operator }).get('twilio')
  const call = WAYS['a first leg']!
  t.equal(await call(carrier, '+442079460018'), undefined)
  t.match(await call(carrier, '+18005550199'), /toll_free.*dial_number_types/)
})

t.test('an extension that registers here is called by its name, whatever the name is', async (t) => {
  const raw = new RecordingCarrier(trunkOf({ name: 'main', host: 'pbx.example' }))
  const carrier = await carriersOf({ sip: raw }).get('sip')
  const events = { ringing: () => undefined, answered: () => undefined, failed: () => t.fail('it was refused') }
  await carrier.dial({ ...BY, callId: 'c', to: '911', toExtension: true, ringTimeoutMs: 1_000 }, events, SIGNAL)
  t.same(raw.asked, ['911'])
})
