import { collectOutput, collectTool } from '../../runtime/call/log/collect-output.ts'
import type { AgentSpec } from '../../runtime/call/types/agent-spec.ts'
import type { CollectItem } from '../../runtime/call/types/collect-item.ts'
import {
  answerCollecting,
  beginCollecting,
  type CollectResult,
} from '../../runtime/conversation/collecting/collecting.ts'
import type { ReadingContext } from '../../runtime/conversation/collecting/reading.ts'
import { readingContext } from '../../runtime/conversation/collecting/reading-context.ts'
import { SpokenLanguage } from '../../runtime/conversation/hearing/spoken-language.ts'
import { createSecretBox, type DataKeys } from '../../runtime/lib/secret-box.ts'
import type { RedisClient } from '../../store/redis/client.ts'

/** Collecting values in a chat: what is typed is exact, so that nothing is read back. */

/** Stands in the chat for what is secret. */
const MASK = '***'
/** A secret is gone by then. */
const SECRET_SECONDS = 3_600

/** What a tool that collects returned, for the language model. */
export interface CollectedOutput {
  readonly id: string
  readonly name: string
  readonly output: string
}

interface Pending {
  readonly id: string
  readonly name: string
  readonly attempts: number
  /** A fixed step of a procedure wants it, not the model. */
  readonly insists?: boolean
  /** What is collected behind it. */
  readonly queue: readonly { readonly id: string; readonly name: string }[]
}

/** As it is kept with the chat. */
interface StoredCollecting {
  readonly values?: Readonly<Record<string, string>>
  readonly pending?: Pending
}

/** The values of one chat: those that are there, and the one that is being asked for. */
export class ChatCollecting {
  readonly #items: ReadonlyMap<string, CollectItem>
  readonly #context: ReadingContext
  readonly #values: Record<string, string>
  #pending: Pending | undefined
  /** Secrets of this message, by name: to be kept. */
  readonly #secrets: Record<string, string> = {}
  readonly #outputs: CollectedOutput[] = []

  constructor(agent: AgentSpec, stored: object | undefined, nowMs: number) {
    const { values = {}, pending } = (stored ?? {}) as StoredCollecting
    this.#items = new Map((agent.collect ?? []).map((item) => [item.name, item]))
    this.#values = { ...values }
    this.#pending = pending && this.#items.has(pending.name) ? pending : undefined
    this.#context = readingContext(agent, new SpokenLanguage(agent.language).tag, nowMs)
  }

  /** The next message is a value's, not the model's. */
  get isPending(): boolean {
    return this.#pending !== undefined
  }

  /** What of the message may be written down. */
  shown(message: string): string {
    return this.#pending !== undefined && this.#items.get(this.#pending.name)?.secret === true ? MASK : message
  }

  /** Values for templates of tools. */
  get values(): Readonly<Record<string, string>> {
    return this.#values
  }

  get secrets(): Readonly<Record<string, string>> {
    return this.#secrets
  }

  /** What the model is to read with its next answer. */
  get outputs(): readonly CollectedOutput[] {
    return this.#outputs
  }

  get stored(): StoredCollecting {
    return { values: this.#values, ...(this.#pending === undefined ? {} : { pending: this.#pending }) }
  }

  /** The model, or a fixed step that `insists`, wants these values: the first question; empty: the agent collects none of them. */
  begin(wanted: readonly { id: string; name: string }[], insists = false): string {
    const [first, ...queue] = wanted.filter(({ name }) => this.#items.has(name))
    if (first === undefined) return ''
    this.#pending = { ...first, attempts: 1, insists, queue }
    return this.#question(first.name)
  }

  /** Takes a message; returns the next question, or undefined where the model goes on. */
  answer(message: string): string | undefined {
    const { id, name, attempts, insists = false, queue } = this.#pending!
    const item = this.#items.get(name)!
    const state = { item, phase: 'asking', attempts, insists, heard: '', unclear: 0 } as const
    const step = answerCollecting(state, message, this.#context, 'typed')
    if (step.type === 'say') {
      this.#pending = { id, name, attempts: step.state.attempts, insists, queue }
      return step.text
    }
    this.#finish(id, item, step.result)
    return queue.length === 0 ? undefined : this.begin(queue, insists)
  }

  #question(name: string): string {
    return beginCollecting(this.#items.get(name)!, this.#context).text
  }

  #finish(id: string, { name, secret }: CollectItem, result: CollectResult): void {
    this.#pending = undefined
    const { status, attempts } = result
    const found = result.status === 'collected' ? { value: result.value, confidence: result.confidence } : undefined
    if (found !== undefined && secret) this.#secrets[name] = found.value
    else if (found !== undefined) this.#values[name] = found.value
    const open = secret ? {} : { ...found, heard: result.heard }
    const output = collectOutput({ id, name, status, attempts, secret, ...open })
    this.#outputs.push({ id, name: collectTool(name), output })
  }
}

/** Keeps the secrets of a chat, sealed, for as long as a visitor needs to go on. */
export class ChatSecrets {
  readonly #redis: RedisClient
  readonly #box: ReturnType<typeof createSecretBox>
  readonly #key: string

  constructor(
    redis: RedisClient,
    keys: DataKeys,
    chat: readonly [workspaceId: string, agentId: string, sessionId: string],
  ) {
    this.#redis = redis
    this.#box = createSecretBox(keys, 'chat secrets')
    this.#key = `chat-secrets:${JSON.stringify(chat)}`
  }

  async read(): Promise<Record<string, string>> {
    const sealed = await this.#redis.get(this.#key)
    const text = sealed === null ? undefined : this.#box.open(sealed, this.#key)
    return text === undefined ? {} : (JSON.parse(text) as Record<string, string>)
  }

  async add(secrets: Readonly<Record<string, string>>): Promise<Record<string, string>> {
    const all = { ...(await this.read()), ...secrets }
    await this.#redis.set(this.#key, this.#box.seal(JSON.stringify(all), this.#key), {
      expiration: { type: 'EX', value: SECRET_SECONDS },
    })
    return all
  }
}
