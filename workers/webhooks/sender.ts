import { joinSignals } from '../../runtime/lib/async/join-signals.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import type { SecretBox } from '../../runtime/lib/secret-box.ts'
import { SparseLog } from '../../runtime/lib/sparse-log.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { ForbiddenAddress, type KeptConnections } from '../../runtime/tools/connections.ts'
import { sendTraced } from '../../runtime/tools/send-traced.ts'
import type { HttpSpans } from '../../runtime/traces/http-spans.ts'
import { contextOfCall } from '../../runtime/traces/trace-context.ts'
import { nextAttemptMs } from '../../runtime/webhooks/retry.ts'
import { retryAfterMs } from '../../runtime/webhooks/retry-after.ts'
import { signedHeaders } from '../../runtime/webhooks/signature.ts'
import type { DeliveryAttempt, DueDelivery } from '../../store/events/webhook-deliveries.ts'

/** What is kept of an answer. */
/** Each delivery of a busy workspace would have a line of its own. */
const FORBIDDEN = new SparseLog(60_000, () => performance.now())
const MAX_ANSWER_CHARACTERS = 1_024
const TIMEOUT_MS = 10_000
/** The receiver says that it is no more (RFC 9110, 15.5.11). */
const GONE = 410
/** Too many requests, and unavailable: the receiver may say until when. */
const RESTS = new Set([429, 503])

export interface SenderOptions {
  connections: KeptConnections
  secrets: SecretBox
  clock: Clock
  random: () => number
  /** Where requests become spans; undefined: nowhere. */
  requests?: HttpSpans | undefined
  log: Logger
  timeoutMs?: number
}

/** An attempt and what it says of its webhook. */
interface Sent {
  attempt: DeliveryAttempt
  /** The receiver asked never to be called again. */
  gone: boolean
  /** The receiver asked to be left alone for so long. */
  restMs?: number | undefined
}

/** What is sent of a delivery's event. */
export interface DeliveryMessage {
  body: string
  /** The call it is about; null: none. */
  callId: string | null
}

/** Sends one delivery once. Never throws but for `signal`; `message` undefined: the event was erased. */
export async function sendDelivery(
  delivery: DueDelivery,
  message: DeliveryMessage | undefined,
  options: SenderOptions,
  signal: AbortSignal,
): Promise<Sent> {
  const { connections, requests, clock, log } = options
  const startedMs = clock.monotonicMs()
  const at = new Date(clock.nowMs())
  const done = (
    result: Pick<DeliveryAttempt, 'responseStatus' | 'responseBody' | 'error'>,
    final = false,
    restMs?: number,
  ): Sent => {
    const good = result.error === null
    const waitMs = good || final ? undefined : nextAttemptMs(delivery.attempts + 1, options.random())
    const attempt: DeliveryAttempt = {
      workspaceId: delivery.workspaceId,
      webhookId: delivery.webhookId,
      id: delivery.id,
      status: good ? 'delivered' : waitMs === undefined ? 'failed' : 'pending',
      nextAttemptAt: new Date(clock.nowMs() + (waitMs === undefined ? 0 : Math.max(waitMs, restMs ?? 0))),
      at,
      durationMs: clock.monotonicMs() - startedMs,
      ...result,
    }
    return { attempt, gone: result.responseStatus === GONE, restMs }
  }
  const broken = (error: string, final = false) => done({ responseStatus: null, responseBody: null, error }, final)

  if (message === undefined) return broken('The event was erased', true)
  const { body, callId } = message
  const secrets = [delivery.secret, delivery.oldSecret].flatMap((sealed) =>
    sealed === null ? [] : (options.secrets.open(sealed, delivery.webhookId) ?? []),
  )
  if (secrets.length === 0) return broken('The secret can not be opened; rotate it')
  const timestampS = Math.floor(clock.nowMs() / 1_000)
  // Not AbortSignal.timeout: the thousands that were answered long ago would each go off ten seconds later.
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), options.timeoutMs ?? TIMEOUT_MS)
  try {
    const reached = await sendTraced(
      {
        method: 'POST',
        url: delivery.url,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Patchbay-Webhooks',
          ...signedHeaders(secrets, { id: delivery.eventId, timestampS, body }),
        },
        body,
      },
      { over: connections, redirects: 0, signal: joinSignals(signal, limit.signal) },
      requests && { requests, within: callId === null ? undefined : contextOfCall(callId) },
    )
    const { status } = reached
    const good = status >= 200 && status < 300
    const redirects = status >= 300 && status < 400 ? '; redirects are not followed' : ''
    return done(
      {
        responseStatus: status,
        responseBody: cleanText(reached.text, MAX_ANSWER_CHARACTERS),
        error: good ? null : `Status ${status}${redirects}`,
      },
      status === GONE,
      RESTS.has(status) ? retryAfterMs(reached.retryAfter, clock.nowMs()) : undefined,
    )
  } catch (error) {
    signal.throwIfAborted()
    if (limit.signal.aborted) return broken(`No answer within ${(options.timeoutMs ?? TIMEOUT_MS) / 1_000} s`)
    if (error instanceof ForbiddenAddress) {
      const { webhookId } = delivery
      const { message: reason } = error
      FORBIDDEN.say(webhookId, (leftOut) =>
        log.warn({ webhookId, reason, leftOut }, 'The address of a webhook is forbidden'),
      )
      return broken('The host is unknown, or none that webhooks may reach')
    }
    const { code, message } = error as NodeJS.ErrnoException
    const unknown = code === 'ENOTFOUND' || code === 'EAI_AGAIN'
    return broken(
      unknown
        ? 'The host is unknown, or none that webhooks may reach'
        : cleanText(code ?? message, MAX_ANSWER_CHARACTERS),
    )
  } finally {
    clearTimeout(timer)
  }
}
