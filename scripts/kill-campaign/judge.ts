import { CLOSED_AREA, REFUSED_PREFIX, type World } from '../../bench/dialer/world.ts'
import { REDIRECTED_PREFIX } from './telephone-network.ts'

/**
 * What was promised and is not so.
 * @param dialled lines of the telephone network: number, Call-ID, time
 */
export async function judgeCampaign(
  { store }: World,
  { dialled, mostCalls, gapMs }: { dialled: readonly string[]; mostCalls: number; gapMs: number },
): Promise<string[]> {
  const broken: string[] = []
  const byNumber = new Map<string, number[]>()
  for (const line of dialled) {
    const [phone = '', , at] = line.split(' ')
    // Each is reached by the forwarded calls of one callee, which are counted there.
    if (phone.startsWith(REDIRECTED_PREFIX)) continue
    byNumber.set(phone, [...(byNumber.get(phone) ?? []), Number(at)])
    if (phone.startsWith(REFUSED_PREFIX)) broken.push(`${phone} was called, which is refused`)
    if (phone.startsWith(`+1${CLOSED_AREA}`)) broken.push(`${phone} was called outside its hours`)
  }
  // A call whose fault was the carrier's, or that a network blocked, counts as no attempt.
  const { rows: charged } = await store.pool.query<{ phone: string; n: number; faults: number }>(
    `select phone, (count(*) filter (where charged))::int as n, (count(*) filter (where outcome in ('fault', 'blocked')))::int as faults
     from prospect_attempts group by 1`,
  )
  const attempts = new Map(charged.map((row) => [row.phone, row]))
  for (const { phone, n } of charged) if (n > mostCalls) broken.push(`${phone} has ${n} attempts`)
  for (const [phone, times] of byNumber) {
    const faults = attempts.get(phone)?.faults ?? 0
    if (times.length > mostCalls + faults) broken.push(`${phone} was called ${times.length} times`)
    times.sort((a, b) => a - b)
    for (let i = 1; faults === 0 && i < times.length; i++) {
      if (times[i]! - times[i - 1]! < gapMs)
        broken.push(`${phone} was called again after ${times[i]! - times[i - 1]!} ms`)
    }
  }
  const count = async (what: string, text: string) => {
    const { rows } = await store.pool.query(text)
    if (rows.length > 0) broken.push(`${what}: ${JSON.stringify(rows.slice(0, 3))}`)
  }
  await count(
    'on the do-not-call list, and called',
    `select a.phone from prospect_attempts a join do_not_call n using (workspace_id, phone) where n.created_at < a.created_at`,
  )
  await count(
    'on the do-not-call list, though nobody declined',
    `select n.phone, n.reason from do_not_call n where n.source = 'call' and not exists (
       select from prospect_attempts a where a.workspace_id = n.workspace_id and a.phone = n.phone and a.outcome = 'declined')`,
  )
  await count(
    'attempts that never ended',
    `select phone, call_id, created_at from prospect_attempts where ended_at is null`,
  )
  await count(
    'calls that never ended',
    `select id, status from calls where call_type = 'phone' and status in ('queued', 'ringing', 'in_progress')`,
  )
  await count('prospects in progress', `select phone from prospects where status = 'calling'`)
  await count(
    'kept counts that differ from the rows',
    `select bucket, sum(n)::int as n from prospect_counts group by 1 having sum(n) <> 0
     except select prospect_bucket(status, resolution, next_attempt_at, consent_at), count(*)::int from prospects group by 1`,
  )
  await count(
    'calls that are counted as under way',
    `select state, sum(n)::int as n, sum(seats)::float8 as seats from campaign_call_counts group by 1
     having sum(n) <> 0 or sum(seats) <> 0`,
  )
  return broken
}
