import { randomUUID } from 'node:crypto'
import { boundary, inBackground } from '../../runtime/lib/async/boundary.ts'
import type { ObjectStore } from '../../runtime/plugin/contract.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { subscribe } from '../../store/redis/subscribe.ts'

const CHANNEL = 'patchbay:recordings'
const ANSWER_MS = 1_000
const LINK_MS = 5_000

interface FileLink {
  readonly expiresInS: number
  readonly filename: string
}

type Message =
  | { readonly kind: 'joined'; readonly from: string }
  | {
      readonly kind: 'asked'
      readonly from: string
      readonly id: string
      readonly key: string
      readonly link: FileLink
    }
  | { readonly kind: 'found'; readonly to: string; readonly id: string; readonly url: string }

/** Recordings in the folders of api nodes, where no bucket keeps them: each node has those of its own calls alone. */
export interface RecordingsOfNodes {
  /** The address of a file at the node that has it; undefined where none answers with one. */
  find(key: string, link: FileLink): Promise<string | undefined>
  /** What is wrong about it, in a sentence; undefined with a single node, and with a bucket. */
  warning(): Promise<string | undefined>
  stop(): void
}

export const NO_OTHER_NODES: RecordingsOfNodes = {
  find: async () => undefined,
  warning: async () => undefined,
  stop: () => {},
}

/** Asks the other nodes over Redis, and answers them. */
export async function openRecordingsOfNodes(services: {
  redis: RedisClient
  objects: ObjectStore
  log: Logger
}): Promise<RecordingsOfNodes> {
  const { redis, objects, log } = services
  const own = randomUUID()
  const asked = new Map<string, (url: string) => void>()
  const publish = (message: Message) => redis.publish(CHANNEL, JSON.stringify(message))
  const warning = async (): Promise<string | undefined> => {
    const counts = await redis.pubSubNumSub([CHANNEL])
    const nodes = counts[CHANNEL] ?? 0
    if (nodes < 2) return undefined
    return `${nodes} api nodes keep recordings in folders of their own, and a backup finds those of its machine alone: set S3_BUCKET, or give the nodes one shared PATCHBAY_DATA_DIR/objects and each a PATCHBAY_NODE_URL`
  }
  const warn = async (): Promise<void> => {
    const found = await warning()
    if (found !== undefined) log.warn(found)
  }
  const answer = async ({ id, from, key, link }: Message & { kind: 'asked' }): Promise<void> => {
    const url = await objects.url(key, link, AbortSignal.timeout(LINK_MS))
    if (url !== undefined) await publish({ kind: 'found', to: from, id, url })
  }
  const what = 'Asking other api nodes for recordings'
  const subscription = await subscribe(redis, CHANNEL, { what, log }, (text) => {
    const message = JSON.parse(text) as Message
    if (message.kind === 'found') {
      if (message.to === own) asked.get(message.id)?.(message.url)
    } else if (message.from === own) return
    else if (message.kind === 'asked') inBackground('redis', answer(message))
    else inBackground('redis', warn())
  })
  inBackground('redis', Promise.all([publish({ kind: 'joined', from: own }), warn()]))
  return {
    warning,
    async find(key, link) {
      const id = randomUUID()
      const answered = new Promise<string | undefined>((resolve) => {
        asked.set(id, resolve)
        setTimeout(
          boundary('redis', () => resolve(undefined)),
          ANSWER_MS,
        )
      })
      try {
        await publish({ kind: 'asked', from: own, id, key, link })
        return await answered
      } finally {
        asked.delete(id)
      }
    },
    stop: () => subscription.stop(),
  }
}
