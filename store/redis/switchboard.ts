import { boundary } from '../../runtime/lib/async/boundary.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { RedisClient } from './client.ts'

/**
 * Joins supervisors, whose sockets may be at any api node, with the node that has the call: messages and sound both ways
 * over Redis. A line is gone when either end has been silent for LINE_SILENT_BEATS.
 */

const JOIN_CHANNEL = 'patchbay:supervise'
const LINE_BEAT_MS = 500
/** Beats are counted and no time is measured: while this process stands still, the silence is its own. */
const LINE_SILENT_BEATS = 7
/** Sound on its way at once; more is lost: it is not for later. */
const MAX_SENDING = 200

const SOUND = 0
const MESSAGE = 1

/** A supervisor wants to listen to a call. */
export interface Join {
  line: string
  callId: string
  workspaceId: string
  who: { id: string; name: string }
}

/** One end of a line. */
export interface Line {
  send(message: unknown): void
  sound(pcm: Uint8Array): void
  close(): void
}

export interface LineHandlers {
  message(message: unknown): void
  sound(pcm: Uint8Array): void
  /** The other end was silent for too long. */
  lost(): void
}

export interface Switchboard {
  /** Asks all nodes for the one that has the call. */
  join(join: Join): Promise<void>
  /** Opens an end: the supervisor's (`outer`) or the call's (`inner`). */
  open(line: string, end: 'outer' | 'inner', handlers: LineHandlers): Promise<Line>
  stop(): void
}

export async function openSwitchboard(
  redis: RedisClient,
  log: Logger,
  joined: (join: Join) => void,
): Promise<Switchboard> {
  const subscriber = redis.duplicate() as RedisClient
  subscriber.on(
    'error',
    boundary('redis', (err: Error) => log.warn({ err }, 'Lines of supervisors were interrupted; reconnecting')),
  )
  await subscriber.connect()
  await subscriber.subscribe(
    JOIN_CHANNEL,
    boundary('redis', (text: string) => joined(JSON.parse(text) as Join)),
  )
  const channel = (line: string, end: 'outer' | 'inner') => `patchbay:supervise:${line}:${end}`
  return {
    async join(join) {
      await redis.publish(JOIN_CHANNEL, JSON.stringify(join))
    },
    async open(line, end, handlers) {
      const [mine, theirs] = [channel(line, end), channel(line, end === 'outer' ? 'inner' : 'outer')]
      let sending = 0
      let over = false
      const publish = (kind: number, bytes: Uint8Array) => {
        if (over || (kind === SOUND && sending >= MAX_SENDING)) return
        sending++
        redis
          .publish(theirs, Buffer.concat([Buffer.of(kind), bytes]))
          .catch(() => undefined)
          .finally(() => sending--)
      }
      let silentBeats = 0
      await subscriber.subscribe(
        mine,
        boundary('redis', (bytes: Buffer) => {
          silentBeats = 0
          if (bytes[0] === SOUND) return handlers.sound(bytes.subarray(1))
          const message = bytes.length > 1 ? JSON.parse(bytes.toString('utf8', 1)) : undefined
          if (message !== undefined) handlers.message(message)
        }),
        true,
      )
      const beat = setInterval(
        boundary('redis', () => {
          if (silentBeats++ === LINE_SILENT_BEATS) handlers.lost()
          else publish(MESSAGE, new Uint8Array())
        }),
        LINE_BEAT_MS,
      )
      return {
        send: (message) => publish(MESSAGE, Buffer.from(JSON.stringify(message))),
        sound: (pcm) => publish(SOUND, pcm),
        close() {
          if (over) return
          over = true
          clearInterval(beat)
          subscriber.unsubscribe(mine).catch(() => undefined)
        },
      }
    },
    stop: () => subscriber.destroy(),
  }
}
