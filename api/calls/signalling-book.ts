import { cleanJson } from '../../runtime/lib/text.ts'
import type { Logger } from '../../runtime/log.ts'
import type { RefusedCall, SignallingBook, WireMessage } from '../../runtime/telephony/wire-message.ts'
import type { Store } from '../../store/database.ts'
import { insertRefusedCalls, removeOldSignalling, writeLadder } from '../../store/signalling.ts'

const FLUSH_MS = 500
/** Beyond, what is oldest is dropped: calls go on, whatever becomes of their books. */
const MAX_LADDERS = 1_000
const MAX_REFUSALS = 1_000
/** Of one workspace between two flushes: a scanner must not fill the disk. */
const MAX_REFUSALS_OF_ONE = 20
const SWEEP_MS = 3_600_000
/** Of one text of a refused call. */
const MAX_TEXT_CHARS = 2_000

export interface OpenSignallingBook extends SignallingBook {
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
  let refusals: (RefusedCall & { workspaceId: string })[] = []
  let flushing = Promise.resolve()
  const flush = async (): Promise<void> => {
    const written = [...ladders]
    const refused = refusals
    ladders.clear()
    refusals = []
    for (const [id, messages] of written) {
      // `<call>.2` is the leg that somebody was led to.
      const [callId = '', leg = '1'] = id.split('.')
      await writeLadder(store, callId, Number(leg), messages)
    }
    await insertRefusedCalls(store, refused)
  }
  const next = (): Promise<void> => {
    flushing = flushing.then(flush).catch((err) => log.warn({ err }, 'Messages of calls were not written down'))
    return flushing
  }
  const timer = setInterval(() => {
    if (ladders.size > 0 || refusals.length > 0) void next()
  }, FLUSH_MS)
  const sweep = setInterval(() => {
    removeOldSignalling(store, days).catch((err) => log.warn({ err }, 'Old messages of calls were not removed'))
  }, SWEEP_MS)
  timer.unref()
  sweep.unref()
  return {
    keep(callId, messages) {
      if (!UUID.test(callId)) return
      ladders.delete(callId)
      const [oldest] = ladders.keys()
      if (oldest !== undefined && ladders.size >= MAX_LADDERS) ladders.delete(oldest)
      ladders.set(callId, cleanJson([...messages]))
    },
    refused(call) {
      const { workspaceId } = call
      if (workspaceId === undefined || !UUID.test(workspaceId) || refusals.length >= MAX_REFUSALS) return
      if (refusals.filter((one) => one.workspaceId === workspaceId).length >= MAX_REFUSALS_OF_ONE) return
      refusals.push(cleanJson({ ...call, workspaceId }, MAX_TEXT_CHARS))
    },
    async close() {
      clearInterval(timer)
      clearInterval(sweep)
      await next()
    },
  }
}

/** Calls that are none of the log, such as those between two extensions, have another id. */
const UUID = /^[0-9a-f]{8}-[0-9a-f-]{27}(?:\.\d)?$/
