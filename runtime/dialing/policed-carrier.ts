import {
  type Carrier,
  CarrierFault,
  type DialEvents,
  type DialOrder,
  type DialRules,
  type TestCall,
  type TransferCase,
} from '../plugin-sdk/telephony/carrier.ts'
import { formatDestination } from '../plugin-sdk/telephony/destination.ts'
import { type DialRefusal, judge } from './dial-policy.ts'

interface Policing {
  /** The provider's name as people write it. */
  title: string
  /** What the operator and the workspace allow now. */
  rulesOf(workspaceId: string): Promise<DialRules>
}

interface Caller {
  readonly workspaceId: string
  readonly from: string
  readonly trunk?: string
}

/**
 * A carrier behind the dial policy: it receives only allowed destinations, parsed and formatted again. All calls
 * of the core go through one of these, so no way of calling can leave the policy out.
 */
export function policed(carrier: Carrier, { title, rulesOf }: Policing): Carrier {
  const refused = new Map<string, number>()

  const judged = async (
    to: string,
    { workspaceId, from, trunk: name }: Caller,
  ): Promise<{ to: string; rules: DialRules } | { refusal: DialRefusal }> => {
    const [rules, trunk] = await Promise.all([rulesOf(workspaceId), carrier.trunkOf?.(workspaceId, name)])
    const found = judge(to, { rules, from, trunk, takesNames: carrier.takesNames === true })
    if ('destination' in found) return { to: formatDestination(found.destination), rules }
    const { reason } = found.refusal
    refused.set(reason, (refused.get(reason) ?? 0) + 1)
    return found
  }

  const dial = async (order: DialOrder, events: DialEvents, signal: AbortSignal): Promise<void> => {
    if (order.toExtension === true) return carrier.dial(order, events, signal)
    const found = await judged(order.to, order)
    signal.throwIfAborted()
    if ('refusal' in found) return events.failed('carrier', `${title} error: ${found.refusal.detail}`)
    return carrier.dial({ ...order, ...found }, events, signal)
  }

  const transfer = async (callId: string, to: string, signal: AbortSignal, by: TransferCase): Promise<void> => {
    const found = await judged(to, by)
    signal.throwIfAborted()
    if ('refusal' in found) throw new CarrierFault(found.refusal.detail)
    return carrier.transfer?.(callId, found.to, signal, { ...by, rules: found.rules })
  }

  const testCall = async (order: DialOrder, signal: AbortSignal): Promise<TestCall> => {
    const found = await judged(order.to, order)
    signal.throwIfAborted()
    if ('refusal' in found) throw new CarrierFault(found.refusal.detail)
    return carrier.testCall?.({ ...order, ...found }, signal) ?? { findings: [], messages: [] }
  }

  return new Proxy(carrier, {
    get(target, name) {
      if (name === 'dial') return dial
      if (name === 'testCall') return target.testCall && testCall
      if (name === 'transfer') return target.transfer && transfer
      if (name === 'refusals') return sumOf(target.refusals, refused)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

function sumOf(
  first: ReadonlyMap<string, number> | undefined,
  second: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const sum = new Map(first)
  for (const [reason, count] of second) sum.set(reason, (sum.get(reason) ?? 0) + count)
  return sum
}
