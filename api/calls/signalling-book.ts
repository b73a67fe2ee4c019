import { uuidv7 } from 'uuidv7'
import { backoffMs } from '../../runtime/lib/async/backoff.ts'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import { cleanJson } from '../../runtime/lib/text.ts'
import type { RefusedCall, SipTraceWriter, WireMessage } from '../../runtime/plugin-sdk/telephony/wire-message.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { countLostRows } from '../../runtime/process/metrics/lost-rows.ts'
import { insertRefusedCalls, removeOldSignalling, writeLadder } from '../../store/calls/signalling.ts'
import type { Store } from '../../store/database/database.ts'
import { writeRow, writeRows } from '../../store/database/write-rows.ts'

const FLUSH_MS = 500
const RETRY = { firstMs: 1_000, mostMs: 10_000 }
/** Beyond it the oldest is dropped, including what an outage left unwritten: calls don't depend on their traces. */
const MAX_LADDERS = 1_000
const MAX_REFUSALS = 1_000
/** Of one workspace between two flushes: a scanner must not fill the disk. */
const MAX_REFUSALS_OF_ONE = 20
const SWEEP_MS = 3_600_000
/** Of one text of a refused call. */
const MAX_TEXT_CHARS = 2_000

type Refused = RefusedCall & { id: string; workspaceId: string }

export interface OpenSignallingBook extends SipTraceWriter {
  /** Writes what waits. */
  close(): Promise<void>
}

/** Writes down the messages of calls, and the calls that were refused. @param days how long both are kept */
export function openSignallingBook({
  store,
  log,
  days,
}: {
  store: Store
  log: Logger
  days: number
}): OpenSignallingBook {
  const ladders = new Map<string, readonly WireMessage[]>()
  let refusals: Refused[] = []
  let flushing = Promise.resolve()
  let failures = 0
  let restUntilMs = 0
  const flush = async (): Promise<void> => {
    const written = [...ladders]
    const refused = refusals
    ladders.clear()
    refusals = []
    let outage: unknown
    for (const [id, messages] of written) {
      // `<call>.2` is the transfer target's leg.
      const [callId = '', leg = '1'] = id.split('.')
      if (outage === undefined) {
        const write = () => writeLadder(store, callId, Number(leg), cleanJson(messages))
        await writeRow('call_ladders', { callId, leg }, log, write).catch((err) => (outage = err))
      }
      // What came meanwhile is all there was before, and more.
      if (outage !== undefined && !ladders.has(id)) ladders.set(id, messages)
    }
    const { left, error = outage } = await writeRows<Refused>({
      ...{ table: 'refused_calls', rows: refused, log },
      write: (some) => insertRefusedCalls(store, some),
      about: ({ id, workspaceId }) => ({ id, workspaceId }),
    })
    refusals = [...left, ...refusals]
    drop()
    failures = error === undefined ? 0 : failures + 1
    restUntilMs = failures === 0 ? 0 : performance.now() + backoffMs(failures, { ...RETRY, random: Math.random })
    if (error !== undefined) log.warn({ err: error }, 'Could not save SIP messages of calls yet')
  }
  /** What there is no room for. */
  const drop = (): void => {
    for (const id of ladders.keys()) {
      if (ladders.size <= MAX_LADDERS) break
      ladders.delete(id)
      countLostRows('call_ladders', 'overflow')
    }
    const most = refusals.splice(0, Math.max(0, refusals.length - MAX_REFUSALS)).length
    if (most > 0) countLostRows('refused_calls', 'overflow', most)
  }
  const next = (): Promise<void> => {
    flushing = flushing.then(flush).catch((err) => log.warn({ err }, 'Could not save SIP messages of calls'))
    return flushing
  }
  const timer = setInterval(
    boundary('call', () => {
      if ((ladders.size > 0 || refusals.length > 0) && performance.now() >= restUntilMs) inBackground('call', next())
    }),
    FLUSH_MS,
  )
  const sweep = setInterval(
    boundary('call', () => {
      removeOldSignalling(store, days).catch((err) => log.warn({ err }, 'Old messages of calls were not removed'))
    }),
    SWEEP_MS,
  )
  timer.unref()
  sweep.unref()
  return {
    keep(callId, messages) {
      if (!UUID.test(callId)) return
      ladders.delete(callId)
      ladders.set(callId, [...messages])
      drop()
    },
    refused(call) {
      const { workspaceId } = call
      if (workspaceId === undefined || !UUID.test(workspaceId) || refusals.length >= MAX_REFUSALS) return
      if (refusals.filter((one) => one.workspaceId === workspaceId).length >= MAX_REFUSALS_OF_ONE) return
      refusals.push(cleanJson({ ...call, id: uuidv7(), workspaceId }, MAX_TEXT_CHARS))
    },
    async close() {
      clearInterval(timer)
      clearInterval(sweep)
      await next()
      if (ladders.size > 0) countLostRows('call_ladders', 'unreachable', ladders.size)
      if (refusals.length > 0) countLostRows('refused_calls', 'unreachable', refusals.length)
    },
  }
}

/** Unlogged calls, such as those between two extensions, have another id. */
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}(?:\.\d)?$/
