/** What decides where a call stands, as it was just read. */
interface ExplainedCall {
  readonly status: string
  readonly callType: 'phone' | 'web'
  readonly direction: string
  readonly createdAt: Date
  readonly placedAt: Date | null
  readonly endedAt: Date | null
  readonly endReason: string | null
  /** Of the batch it belongs to. */
  readonly batchStatus: string | null
  /** What is left of its lease; undefined: none. */
  readonly leaseMs: number | undefined
  /** The api node that reports it to the database. */
  readonly nodeId: string | undefined
  /** A job of the queue of calls has it. */
  readonly isQueued: boolean
  readonly maintenance: boolean
  readonly suspended: boolean
  /** Quota of the month that is used up. */
  readonly exhausted: string | undefined
  readonly callsAtOnce: number | null
  /** Calls of its workspace that a carrier has, or that came in. */
  readonly placedCalls: number
  readonly seats: { readonly ready: number; readonly capacity: number }
}

/** Why the call is where it is, a sentence a line. */
export function explainCall(facts: ExplainedCall): string[] {
  const { status, direction, callType, createdAt, placedAt, endedAt, endReason } = facts
  const lines = [`${direction} ${callType} call, ${status}, made ${createdAt.toISOString()}`]
  if (endedAt !== null) return [...lines, `It is over since ${endedAt.toISOString()}: ${endReason}.`]
  if (placedAt !== null) lines.push(`A carrier was asked to dial it at ${placedAt.toISOString()}.`)
  return [...lines, ...(status === 'queued' && placedAt === null ? waitsFor(facts) : heldBy(facts))]
}

function heldBy({ leaseMs, nodeId }: ExplainedCall): string[] {
  const node = nodeId === undefined ? 'no api node reports it to the database' : `api node ${nodeId} reports it`
  if (leaseMs !== undefined && leaseMs > 0) return [`Its lease runs for ${seconds(leaseMs)} more; ${node}.`]
  const lease = leaseMs === undefined ? 'It has no lease' : `Its lease ran out ${seconds(-leaseMs)} ago`
  if (nodeId !== undefined) return [`${lease}, but ${node}: it is kept.`]
  return [
    `${lease}, and ${node}: nobody holds it. The reaper of a job worker ends it as node_lost within a minute; if it does not, no job worker runs. "calls release" ends it now.`,
  ]
}

function waitsFor(facts: ExplainedCall): string[] {
  const { callType, batchStatus, isQueued, maintenance, suspended, exhausted, callsAtOnce, placedCalls, seats } = facts
  if (callType === 'web')
    return ['It waits for its client to open the session; unused, its token ends it after a minute or two.']
  const waits: string[] = []
  if (maintenance) waits.push('The installation is in maintenance: no call begins.')
  if (suspended) waits.push('Its workspace is suspended.')
  if (exhausted !== undefined) waits.push(`Its workspace has used up its quota: ${exhausted}.`)
  if (batchStatus !== null && batchStatus !== 'running') waits.push(`Its batch is ${batchStatus}.`)
  if (callsAtOnce !== null && placedCalls >= callsAtOnce) {
    waits.push(`Its workspace has ${placedCalls} calls at once, of ${callsAtOnce} that it may have.`)
  }
  if (seats.capacity === 0) waits.push('No voice worker is linked.')
  else if (seats.ready === 0) waits.push(`All ${seats.capacity} voice seats are taken.`)
  if (!isQueued) waits.push('No job of the queue has it: a job worker queues it again within a minute.')
  return waits.length > 0 ? waits : ['Nothing keeps it: it waits for its turn in the queue of calls.']
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`
