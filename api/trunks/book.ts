import { randomUUID } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import type { EffectiveConfig } from '../../config/schema.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { createSecretBox, type DataKeys } from '../../runtime/lib/secret-box.ts'
import { cleanText } from '../../runtime/lib/text.ts'
import {
  LOCAL_TRUNK_ID,
  type Trunk,
  type TrunkAttempt,
  type TrunkDirectory,
} from '../../runtime/plugin-sdk/telephony/trunk.ts'
import { DEFAULT_TRUNK_SETTINGS } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Store } from '../../store/database/database.ts'
import type { TrunkRow } from '../../store/database/schema.ts'
import { publishEvent } from '../../store/events/workspace-events.ts'
import { openChanges } from '../../store/redis/changes.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { type AttemptHour, attemptHours, lastAttempts, noteAttempt } from '../../store/redis/trunk-attempts.ts'
import { noteTrunkEvent, type StoredTrunkEvent, trunkEvents } from '../../store/redis/trunk-events.ts'
import { leaveTrunks, shareTrunks } from '../../store/redis/trunk-share.ts'
import { allTrunks } from '../../store/telephony/trunks.ts'
import { type OpenSignallingBook, openSignallingBook } from '../calls/signalling-book.ts'
import { type ExtensionBook, openExtensionBook } from '../extensions/book.ts'
import { admitAddresses, reachOfWorkspaces, unapprovedRanges } from './address-policy.ts'

/** What seals the passwords of trunks. */
export const trunkSecrets = (keys: string | DataKeys) => createSecretBox(keys, 'trunk passwords')

/** Where api nodes hear that trunks have changed; the message says nothing. */
const CHANNEL = 'patchbay:trunks'
const MAX_REASON_CHARS = 200
/** A softphone or two on this machine. */
const LOCAL_CALLS = 100
const LOCAL_CALLS_PER_SECOND = 20

/** The trunks of all workspaces, with their passwords opened, and word of their changes on every api node. */
export interface TrunkRegistry extends TrunkDirectory {
  readonly signalling: OpenSignallingBook
  readonly extensions: ExtensionBook
  /** When a trunk failed and came back, newest first. */
  events(trunkId: string): Promise<StoredTrunkEvent[]>
  /** What it said to REGISTER and OPTIONS, at whichever node, newest first. */
  attempts(trunkId: string, most?: number): Promise<TrunkAttempt[]>
  /** How many of them there were in each hour of the last week, oldest first. */
  hours(trunkId: string): Promise<AttemptHour[]>
  sealPassword(trunkId: string, password: string): string
  /** The private key of a client's certificate. */
  sealKey(trunkId: string, key: string): string
  /** Tells every node; resolves once this one knows. */
  changed(): Promise<void>
  close(): Promise<void>
}

export async function openTrunkBook(options: {
  config: Pick<EffectiveConfig, 'dataKey' | 'dataKeyOld' | 'databaseUrl' | 'eventsDays' | 'trunksAllowNet'>
  store: Store
  redis: RedisClient
  clock: Clock
  log: Logger
}): Promise<TrunkRegistry> {
  const { config, store, redis, log } = options
  const extensions = await openExtensionBook(options)
  const signalling = openSignallingBook({ store, log, days: config.eventsDays })
  const box = trunkSecrets(config)
  const node = randomUUID()
  const changes = await openChanges(redis, CHANNEL, { what: 'Listening for changes of trunks', log })
  const opened = (row: TrunkRow, internalAddresses: readonly string[]): Trunk => {
    const password = row.password === null ? undefined : box.open(row.password, row.id)
    const tlsKey = row.tls_key === null ? undefined : box.open(row.tls_key, keyLabel(row.id))
    if (row.password !== null && password === undefined) {
      log.error(
        { trunk: row.name },
        'The password of a trunk was sealed under another PATCHBAY_DATA_KEY; name that key in PATCHBAY_DATA_KEY_OLD, or set the password again',
      )
    }
    return {
      id: row.id,
      workspaceId: row.workspace_id,
      name: row.name,
      host: row.host,
      transport: row.transport,
      tlsCa: row.tls_ca ?? undefined,
      register: row.register,
      username: row.username ?? undefined,
      password,
      allowedAddresses: row.allowed_addresses,
      internalAddresses,
      codecs: row.codecs,
      maxConcurrentCalls: row.max_concurrent_calls,
      maxCallsPerSecond: row.max_calls_per_second,
      countries: row.countries,
      settings: { ...DEFAULT_TRUNK_SETTINGS, ...row.settings },
      tlsKey,
    }
  }
  const ranges = await unapprovedRanges(options, await allTrunks(store))
  for (const { trunk, workspaceId, range, objection } of ranges.slice(0, MOST_WARNINGS)) {
    const why = objection === 'wide' ? 'is wider than /24 (IPv6: /48)' : 'holds addresses of your own network'
    log.warn(
      { trunk, workspace: workspaceId, range },
      `A trunk takes calls from a range that ${why} and that you have not approved: approve it for the workspace with POST /operator/trunk-hosts, or narrow the trunk's allowed_addresses`,
    )
  }
  return {
    extensions,
    signalling,
    async list() {
      const reachOf = await reachOfWorkspaces(options)
      const trunks = (await allTrunks(store)).map((row) => opened(row, reachOf(row.workspace_id)))
      // An embedded database means one machine, whose users may call.
      return config.databaseUrl === undefined ? [...trunks, localTrunk()] : trunks
    },
    watch: changes.watch,
    admit: (trunk, hop, addresses) => admitAddresses(options, trunk, hop, addresses),
    share: (wanted, active) => shareTrunks(redis, node, wanted, active),
    told({ type, trunk, status, reason }) {
      const event = { type, status, reason: cleanText(reason, MAX_REASON_CHARS), atMs: options.clock.nowMs() }
      const noted = async () => {
        // One of the installation is no workspace's.
        if (!(await noteTrunkEvent(redis, trunk.id, event)) || trunk.workspaceId === '') return
        const { id, name, host } = trunk
        const data = { trunk_id: id, name, host, status, reason: event.reason }
        await publishEvent(store.tenant(trunk.workspaceId), { type: `trunk.${type}`, subject: id, data })
      }
      noted().catch((err) => log.warn({ err, trunk: trunk.name }, 'Trunk state could not be saved'))
    },
    contacted({ id }, attempt) {
      noteAttempt(redis, id, { ...attempt, reason: cleanText(attempt.reason, MAX_REASON_CHARS) }).catch((err) =>
        log.debug({ err, trunk: id }, 'Answer of a trunk could not be saved'),
      )
    },
    events: (trunkId) => trunkEvents(redis, trunkId),
    attempts: (trunkId, most) => lastAttempts(redis, trunkId, most),
    hours: (trunkId) => attemptHours(redis, trunkId, options.clock.nowMs()),
    sealPassword: (trunkId, password) => box.seal(password, trunkId),
    sealKey: (trunkId, key) => box.seal(key, keyLabel(trunkId)),
    changed: changes.tell,
    async close() {
      extensions.close()
      changes.stop()
      await signalling.close()
      leaveTrunks(redis, node).catch((err) =>
        log.debug({ err }, 'Could not release the trunks; their lease will expire'),
      )
    },
  }
}

/** Bounds the lines of one start. */
const MOST_WARNINGS = 20

export const keyLabel = (trunkId: string): string => `${trunkId} tls key`

/** Softphones on this machine: no host to call out by, and no account. */
function localTrunk(): Trunk {
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const addresses = ['127.0.0.0/8', '::1', ...own.map(({ address }) => address.replace(/%.*$/, ''))]
  return {
    id: LOCAL_TRUNK_ID,
    workspaceId: '',
    name: LOCAL_TRUNK_ID,
    host: '',
    transport: 'udp',
    tlsCa: undefined,
    register: false,
    username: undefined,
    password: undefined,
    allowedAddresses: addresses,
    internalAddresses: addresses,
    codecs: ['PCMU', 'PCMA'],
    maxConcurrentCalls: LOCAL_CALLS,
    maxCallsPerSecond: LOCAL_CALLS_PER_SECOND,
    countries: [],
    settings: DEFAULT_TRUNK_SETTINGS,
    tlsKey: undefined,
  }
}
