import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { keepOpened } from '../../runtime/lib/secret-box.ts'
import { parseInfrastructureRule } from '../../runtime/plugin/grants/net-rule.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Mailer } from '../../runtime/process/mail.ts'
import { type WebhookFault, webhookOffMail } from '../../runtime/process/mail-texts.ts'
import { KeptConnections } from '../../runtime/tools/connections.ts'
import type { HttpSpans } from '../../runtime/traces/http-spans.ts'
import { webhookSecrets } from '../../runtime/webhooks/signature.ts'
import { adminsOf } from '../../store/accounts/users.ts'
import type { Store } from '../../store/database/database.ts'
import {
  claimDeliveries,
  DELIVERY_LEASE_MS,
  type DueDelivery,
  enabledWebhooks,
  noteHealth,
  postponeDeliveries,
} from '../../store/events/webhook-deliveries.ts'
import { disableWebhook } from '../../store/events/webhooks.ts'
import { adoptMovedEvents, eventsById } from '../../store/events/workspace-events.ts'
import { AttemptWriter } from './attempt-writer.ts'
import { DeliveryWindows } from './delivery-windows.ts'
import { callOf, type EventData, eventMessage } from './event-data.ts'
import { DeliveryOutbox, type Taken } from './outbox.ts'
import { route } from './route.ts'
import { type DeliveryMessage, type SenderOptions, sendDelivery } from './sender.ts'

/** Looks for new events this often; sooner where more wait. */
const POLL_MS = 100
const BUSY_POLL_MS = 10
/** While no webhook is switched on. */
const UNUSED_POLL_MS = 1_000
const WEBHOOKS_KNOWN_MS = 250
/** How long a claimed delivery may wait to be sent; with the response timeout this stays below the lease. */
const MOST_HELD_MS = 15_000
/** Answered and not written down yet; beyond, none is taken. */
const MOST_UNSETTLED = 4_096
const KEPT_IDLE_MS = 4_000
const FAILING_MOST_MS = 5 * 86_400_000
/** As the webhook has it. */
const REASONS: Readonly<Record<WebhookFault, string>> = {
  gone: 'The receiver answered 410 Gone',
  failing: 'Every attempt failed for five days',
}
/** After an error of the database. */
const REST_MS = 1_000

interface Webhooks {
  /** Takes nothing new; what is on its way may end for `graceMs`, and is sent again elsewhere otherwise. */
  stop(graceMs: number): Promise<void>
}

interface WebhooksOptions {
  store: Store
  config: {
    readonly dataKey: string
    readonly dataKeyOld?: readonly string[] | undefined
    readonly publicUrl: string
    readonly toolsAllowNet?: readonly string[] | undefined
  }
  eventData: EventData
  /** Tells the Admins of a webhook that was switched off. */
  mailer: Mailer | undefined
  /** Where requests become spans; undefined: nowhere. */
  requests?: HttpSpans | undefined
  clock: Clock
  log: Logger
  /** How long a receiver may take; default 10 s. */
  timeoutMs?: number
}

/** Sends what happens in workspaces to their webhooks: each committed event at least once, each receiver at its own pace. */
export function startWebhooks(options: WebhooksOptions): Webhooks {
  const { store, config, log, clock } = options
  const stopping = new AbortController()
  const cutting = new AbortController()
  const allowed = (config.toolsAllowNet ?? []).map(parseInfrastructureRule)
  const connections = new KeptConnections({ allowed, idleMs: KEPT_IDLE_MS })
  const sender: SenderOptions = {
    connections,
    secrets: keepOpened(webhookSecrets(config)),
    clock,
    random: Math.random,
    requests: options.requests,
    log,
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
  }
  const rooms = new DeliveryWindows()
  const outbox = new DeliveryOutbox(rooms, (one) => {
    const sending: Promise<void> = send(one).finally(() => running.delete(sending))
    running.add(sending)
  })
  const running = new Set<Promise<void>>()
  const attempts = new AttemptWriter(store, log)

  async function send({ delivery, message, takenAtMs }: Taken): Promise<void> {
    // What waited too long may have been taken by another process, or soon is; a receiver that rests is asked later.
    const isStale =
      clock.monotonicMs() - takenAtMs > MOST_HELD_MS || rooms.isResting(delivery.webhookId, clock.monotonicMs())
    const sent = isStale
      ? undefined
      : await sendDelivery(delivery, message, sender, cutting.signal).catch((err) => {
          if (!cutting.signal.aborted) log.warn({ err, webhookId: delivery.webhookId }, 'A delivery could not be sent')
          return undefined
        })
    const good = sent?.attempt.error === null
    if (sent !== undefined) rooms.answered(delivery.webhookId, good)
    const restMs = sent?.restMs ?? 0
    if (restMs > 0) rooms.rest(delivery.webhookId, clock.monotonicMs() + restMs)
    outbox.left(delivery)
    if (moreWaits && outbox.isLow(delivery.webhookId)) lookSoon()
    if (sent === undefined) return
    const { attempt, gone } = sent
    try {
      await attempts.write(attempt)
      if (restMs > 0) await postponeDeliveries(store, delivery.webhookId, new Date(clock.nowMs() + restMs))
      if (good !== (delivery.failingSince === null)) {
        await noteHealth(store, delivery.webhookId, !good, new Date(clock.nowMs()))
      }
      if (gone) await disable(delivery, 'gone')
      else if (!good && clock.nowMs() - (delivery.failingSince?.getTime() ?? clock.nowMs()) > FAILING_MOST_MS) {
        await disable(delivery, 'failing')
      }
    } catch (err) {
      if (!cutting.signal.aborted) log.warn({ err, webhookId: delivery.webhookId }, 'A delivery is not settled yet')
    }
  }

  async function disable({ webhookId, workspaceId, url }: DueDelivery, fault: WebhookFault): Promise<void> {
    const tenant = store.tenant(workspaceId)
    const reason = REASONS[fault]
    if (!(await disableWebhook(tenant, webhookId, reason, new Date(clock.nowMs())))) return
    log.warn({ webhookId, workspaceId, reason }, 'A webhook was switched off')
    const page = `${config.publicUrl}/console/developers/webhooks/${webhookId}`
    for (const { email, language } of options.mailer === undefined ? [] : await adminsOf(store, workspaceId)) {
      await options.mailer
        ?.send({ to: email, ...webhookOffMail(language, { url, fault, page }) })
        .catch((err) => log.warn({ err, webhookId }, 'An Admin could not be mailed that a webhook was switched off'))
    }
  }

  let known: Awaited<ReturnType<typeof enabledWebhooks>> = []
  let knownAtMs = Number.NEGATIVE_INFINITY
  /** There may be more than receivers had room for. */
  let moreWaits = false

  /** True when there is more to route. */
  async function round(): Promise<boolean> {
    const isMore = await route(store, log)
    if (clock.monotonicMs() - knownAtMs > WEBHOOKS_KNOWN_MS) {
      known = await enabledWebhooks(store)
      knownAtMs = clock.monotonicMs()
      rooms.keep(known)
    }
    const free = rooms.free(running.size < MOST_UNSETTLED ? known : [], outbox.held, clock.monotonicMs())
    const due = await claimDeliveries(store, free, DELIVERY_LEASE_MS)
    const counts = Map.groupBy(due, ({ webhookId }) => webhookId)
    moreWaits =
      due.length >= free.most || free.rooms.some(({ webhookId, room }) => counts.get(webhookId)?.length === room)
    const events = await eventsById(
      store,
      due.map(({ eventId, eventAt }) => ({ id: eventId, at: eventAt })),
    )
    const list = [...events.values()]
    const data = await options.eventData(store, config.publicUrl, list)
    const messages = new Map(
      list.map((event, i): [string, DeliveryMessage] => [
        event.id,
        { body: JSON.stringify(eventMessage(event, data[i] ?? {})), callId: callOf(event) },
      ]),
    )
    const takenAtMs = clock.monotonicMs()
    for (const delivery of due) outbox.add({ delivery, message: messages.get(delivery.eventId), takenAtMs })
    return isMore
  }

  let timer: NodeJS.Timeout | undefined
  let rounds: Promise<void> | undefined
  const begin = boundary('queue', () => {
    timer = undefined
    rounds = turn()
  })
  const lookIn = (ms: number) => {
    clearTimeout(timer)
    if (!stopping.signal.aborted) timer = setTimeout(begin, ms)
  }
  /** Receivers had room again while a round ran. */
  let asked = false
  /** Receivers have room again. */
  function lookSoon(): void {
    if (timer === undefined) {
      asked = true
      return
    }
    moreWaits = false
    lookIn(BUSY_POLL_MS)
  }
  async function turn(): Promise<void> {
    try {
      asked = false
      const isMore = await round()
      lookIn(isMore ? 0 : asked && moreWaits ? BUSY_POLL_MS : known.length === 0 ? UNUSED_POLL_MS : POLL_MS)
    } catch (err) {
      log.warn({ err }, 'Could not hand events to webhooks')
      lookIn(REST_MS)
    }
  }
  rounds = adoptMovedEvents(store)
    .then((moved) => {
      if (moved > 0) log.warn({ events: moved }, 'Continuing with the events of another database')
    })
    .catch((err) => log.warn({ err }, 'Could not read the position in the event stream'))
    .finally(() => lookIn(0))

  return {
    async stop(graceMs) {
      stopping.abort()
      clearTimeout(timer)
      const cut = setTimeout(() => cutting.abort(), graceMs)
      await rounds
      clearTimeout(timer)
      // Claimed deliveries are still sent: no other process may for the rest of the lease.
      while (running.size > 0) await Promise.all(running)
      clearTimeout(cut)
      connections.close()
    },
  }
}
