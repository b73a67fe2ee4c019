import type { llm, stt, tts } from '@livekit/agents'
import type { Logger } from 'pino'
import type { Toolbox } from '../../packages/plugin/mod.ts'
import type { Conformance } from '../../packages/plugin/test.ts'
import type { RealtimeProvider } from '../plugin-sdk/realtime/realtime-provider.ts'
import type { Carrier } from '../plugin-sdk/telephony/carrier.ts'
import type { TrunkDirectory } from '../plugin-sdk/telephony/trunk.ts'
import type { CarrierEndpoint } from '../plugin-sdk/telephony/web.ts'

/**
 * What a plugin is. A plugin is a folder `plugins/<name>/` with `plugin.json` (the manifest: data, read before any
 * code of the plugin runs) and `mod.ts`, whose default export is `definePlugin({ stt: (host, options) => … })`.
 */

/**
 * Words of a text as a sparse vector: `ids` are 32-bit hashes of stemmed words, ascending and distinct; `counts` say how
 * often each occurs. Hashes instead of a shared dictionary let every document be indexed alone (as Qdrant's sparse
 * vectors are); two of 100,000 words collide with a chance of 2e-5 for a given word, which costs one wrong match.
 */
export interface Terms {
  ids: Uint32Array
  counts: Uint16Array
}

export const PLUGIN_KINDS = [
  'stt',
  'llm',
  'realtime',
  'tts',
  'telephony',
  'embedding',
  'vectorstore',
  'objectstore',
  'tools',
] as const
export type PluginKind = (typeof PLUGIN_KINDS)[number]

/** What a plugin asks for, and what an operator grants. Entries are as Deno writes them. */
export interface Permissions {
  /** `host`, `host:port`, `*.example.com:443`, an IP, a CIDR, or `${VARIABLE}` holding a URL. */
  net?: string[]
  /** Names of environment variables. */
  env?: string[]
  /** Names or absolute paths of programs. */
  run?: string[]
  /** Paths of files or folders. */
  read?: string[]
  /** Ports to open: `5060`, `udp:5060`, `tcp:5060-5061`, or `${VARIABLE}` holding one. */
  listen?: string[]
}

/** What a kind offers, for `patchbay plugins`, validation of agents and the OpenAPI document. */
/** The day a provider switches a model off. */
export interface ModelEnd {
  /** The first day without it, in UTC. */
  on: string
  /** Another model of the list that takes its place. */
  successor?: string
  /** What to do where no model of the list takes its place, as a clause: `choose another voice provider`. */
  advice?: string
  /** Where that is written, and when it was read. */
  source: string
  checked: string
}

export interface Provides {
  /** Model names; absent or empty: any name is accepted. */
  models?: string[]
  /** Models that are switched off, and those that will be. A model that is gone is refused with its successor's name. */
  ends?: Record<string, ModelEnd>
  /** Voice names (tts); absent or empty: any name is accepted. */
  voices?: string[]
  /**
   * Names besides the lists: the keys of this option of the operator's (`scenarios.stt`), and JSON objects that describe one themselves.
   */
  described?: string
  /** A warning for its users, in one sentence: logged at start where agents get it by default. */
  notice?: string
  /** Of a recogniser that knows sentences and no speech: the plugin's folder with them, `<language>.json` each a list. */
  understands?: string
  /**
   * Whether agents that name no provider get this one, once its key is set: of several the one with the highest number.
   * Absent: they never do.
   */
  preference?: number
  /** What people call a voice whose name is an id. */
  voiceNames?: Record<string, string>
  /** Language tags, and `multi` where a recogniser follows the spoken language; absent or empty: any. */
  languages?: string[]
  /** Models or voices that know other languages than those; `*` stands for any letters (`aura-2-*-de`). The first that fits counts. */
  languagesOf?: Record<string, string[]>
  /** Voices by language tag, for agents that name a language and no voice. */
  defaultVoices?: Record<string, string>
  /** Used when an agent names none. */
  defaultModel?: string
  defaultVoice?: string
  /**
   * The lists are examples, and any name is accepted: always (`true`), or once this variable is set, because then another
   * server answers.
   */
  open?: boolean | string
  /** Of models of kind `realtime`: names that are of it also where any name is accepted; `*` stands for any letters. */
  names?: string[]
  /** An option of the operator's that names more of them. */
  namesOption?: string
  /** The default model of the other server, where it is another than the provider's. */
  openDefaultModel?: string
  /**
   * Of a kind the process has one of (vectorstore, objectstore): the variable that, once set, makes this plugin that one.
   * The one without it is the default.
   */
  chosenBy?: string
}

/** The credential of a provider. */
interface KeyRequirement {
  /** The variable that holds it: without it the provider can't be used, and nothing tries. */
  env: string
  /** Variables without which the key is of no use, such as that of its region. */
  with?: string[]
  /** A variable that, once set, makes the key optional: another server answers, which may need none. */
  unless?: string
  /** At the server of `unless` other models answer than the provider's own: no agent gets those without naming them. */
  otherModels?: boolean
}

/** A package of npm that a plugin needs and Patchbay does not bring. */
export interface Engine {
  package: string
  version: string
  /** As the operator should know it before it is installed. */
  license: string
  /** About. */
  megabytes: number
  /** Of each package that comes with it, on any system: `tool@1.2.3`, and its `sha512-…` as npm has it. */
  digests: Readonly<Record<string, string>>
}

export interface Manifest {
  name: string
  /** The provider's name as people write it (`Twilio`): error messages start with it. Default: `name`. */
  title?: string
  version: string
  /** The version of the contract of `@patchbay/plugin` that it is written for. Default: 1. */
  specification?: number
  /** The versions of Patchbay that it runs with: `>=1.2.0`, `>=1.2.0 <2.0.0`. */
  engines?: { patchbay: string }
  description?: string
  provides: Partial<Record<PluginKind, Provides>>
  permissions: Permissions
  /** What it asks for and can do without: an operator may grant less than all. */
  optional?: Permissions
  /** Why it asks for an entry of its permissions, in words for the operator. */
  reasons?: Record<string, string>
  key?: KeyRequirement
  /**
   * `node`: it brings native code and runs in a Node process of its own, so that a fault of it ends no call. It isolates
   * nothing: a third-party plugin runs in Deno all the same.
   */
  process?: 'node'
  /** The plugin's file that lists the models it can run once the operator has downloaded them (runtime/models/catalogue.ts). */
  models?: string
  /** What runs them, where the operator installs that, too: native code under a licence of its own. */
  engine?: Engine
  /** JSON Schema of the options an operator may set in config/plugins.json. */
  options?: Record<string, unknown>
}

/** The only door to the outside a plugin gets. Every handle checks the operator's grants and names the cure. */
export interface PluginHost {
  readonly plugin: string
  readonly env: { get(name: string): string | undefined }
  readonly net: {
    fetch(url: string | URL, init?: RequestInit): Promise<Response>
    /** Opens a TCP or TLS connection once name and resolved address are granted. */
    connect(options: {
      host: string
      port: number
      tls?: boolean
      /** The name a TLS certificate must be for, where `host` is an address. */
      servername?: string
      /** PEM of those who may vouch for a TLS certificate, in place of those trusted by default. */
      ca?: string
      /** PEM of the certificate we show over TLS where we are asked for one, and of its key. */
      cert?: string
      key?: string
      signal?: AbortSignal
    }): Promise<import('node:net').Socket>
    /** Opens a UDP port. */
    udp(options: { port: number; address?: string }): Promise<UdpSocket>
    /** Opens a TCP or TLS port. */
    listen(options: ListenOptions): Promise<Listener>
    /** The addresses of a name. */
    resolve(host: string): Promise<string[]>
    /** The servers of a service (`_sip._udp.example.com`), as the DNS lists them. */
    srv(name: string): Promise<SrvRecord[]>
  }
  readonly run: {
    spawn(
      program: string,
      args: readonly string[],
      options?: { signal?: AbortSignal },
    ): import('node:child_process').ChildProcessWithoutNullStreams
  }
  readonly read: { bytes(path: string): Promise<Uint8Array> }
  readonly log: Logger
  /** Aborts when the process stops: close what is open. */
  readonly signal: AbortSignal
}

/** RFC 2782. */
export interface SrvRecord {
  name: string
  port: number
  priority: number
  weight: number
}

/** A UDP port that a plugin opened. Closed with the process at the latest. */
export interface UdpSocket {
  /** Where it is bound. */
  readonly address: string
  readonly port: number
  /** Sends to an IP address. What can't be sent is lost, as datagrams are. */
  send(bytes: Uint8Array, port: number, address: string): void
  /** Called for every datagram; `bytes` is the handler's to keep. */
  receive(handler: (bytes: Buffer, from: { address: string; port: number }) => void): void
  close(): void
}

export interface ListenOptions {
  port: number
  address?: string
  /** With both it is TLS. PEM. */
  key?: Uint8Array
  cert?: Uint8Array
  maxConnections: number
  /**
   * Asked before anything is read, the TLS handshake included: false hangs up. A function is called once the connection is
   * closed.
   */
  admits?(from: { address: string; port: number }): boolean | (() => void)
  /** A TLS handshake failed. */
  failed?(error: Error & { code?: string }, from: { address: string; port: number }): void
  accept(socket: import('node:net').Socket, from: { address: string; port: number }): void
}

export interface Listener {
  readonly port: number
  /** Cuts its connections, too. */
  close(): void
}

/** Options of one use: the operator's settings of the plugin, then what the agent chose. */
export interface SpeechOptions {
  model?: string
  voice?: string
  /** As the provider lists it; `multi`: any spoken language. */
  language?: string
  temperature?: number
  /** Names and terms to listen for. */
  keyterms?: readonly string[]
  /** The operator's own options of the plugin, validated against the manifest. */
  settings: Readonly<Record<string, unknown>>
}

/** A voice that can change its language in the middle of a session; an instance of kind tts may be one. */
export interface SpeaksLanguages {
  /** From the next sentence on, in the language of this tag where the voice knows it. */
  speakIn(language: string): void
}

export interface EmbeddingProvider {
  readonly dimensions: number
  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>
}

/** The owner of the vectors: every operation of every store is bound to both. */
export interface VectorScope {
  workspaceId: string
  agentId: string
}

/** One chunk of a document as a vector store keeps it. The text stays in the database. */
export interface VectorPoint {
  /** Number of the chunk in its document. */
  chunk: number
  terms: Terms
  /** Of the process's embedding provider; absent without one. */
  dense?: Float32Array
}

/** What is looked for: by its words, and by its meaning where there is an embedding provider. */
export interface VectorQuery {
  terms: Terms
  dense?: Float32Array
  limit: number
  /** Chunks of other documents are not wanted; absent: those of all are. */
  documents?: readonly string[]
}

/** Who makes the dense vectors: those of another model can't be compared with them. */
export interface EmbeddingIdentity {
  /** `provider/model`. */
  model: string
  dimensions: number
}

export interface VectorMatch {
  documentId: string
  chunk: number
  /** Higher is better; comparable within one search only. */
  score: number
}

export interface VectorStore {
  /** Adds or replaces points of a document, at most 256 at once. The same points again change nothing. */
  upsert(scope: VectorScope, documentId: string, points: readonly VectorPoint[], signal: AbortSignal): Promise<void>
  /**
   * The best matches, best first, of documents the core still has; at most `limit`. With a dense vector, BM25 and cosine
   * rank 50 each, fused by reciprocal rank (runtime/knowledge/fusion.ts); without, BM25 alone.
   */
  search(scope: VectorScope, query: VectorQuery, signal: AbortSignal): Promise<VectorMatch[]>
  /** Removes every point of a document; an unknown one is no error. */
  remove(scope: VectorScope, documentId: string, signal: AbortSignal): Promise<void>
  /** Removes every point of an agent, or of a whole workspace, whose documents are deleted. */
  removeAll(owner: { workspaceId: string; agentId?: string }, signal: AbortSignal): Promise<void>
}

/** Keeps bytes in the core's database for vector stores that bring no engine of their own. Rows go with their document. */
export interface VectorBlobStore {
  put(scope: VectorScope, documentId: string, firstChunk: number, bytes: Uint8Array, signal: AbortSignal): Promise<void>
  /** Changes whenever `list` may answer otherwise. */
  version(scope: VectorScope, signal: AbortSignal): Promise<number>
  /** The rows of all documents that are ready, in a stable order. A row never changes under its id. */
  list(scope: VectorScope, signal: AbortSignal): Promise<ShelfRow[]>
  /** Bytes of the rows that still exist, in any order. */
  read(scope: VectorScope, ids: readonly number[], signal: AbortSignal): Promise<{ id: number; bytes: Uint8Array }[]>
  remove(scope: VectorScope, documentId: string, signal: AbortSignal): Promise<void>
}

export interface ShelfRow {
  id: number
  documentId: string
  byteLength: number
}

interface VectorStoreOptions {
  shelf: VectorBlobStore
  /** Whose dense vectors come; undefined: none do. */
  embedding: EmbeddingIdentity | undefined
  /** The operator's own options of the plugin, validated against the manifest. */
  settings: Readonly<Record<string, unknown>>
}

/** Bytes to keep, in pieces of the reader's choice; what was read once can be read again when sending it failed. */
export interface ObjectSource {
  readonly size: number
  /** The bytes from `start` up to, not including, `end`. */
  bytes(start: number, end: number): Promise<Uint8Array>
}

export interface StoredObject {
  size: number
  /** Read it to its end or end its iterator: both release what is held. */
  body: AsyncIterable<Uint8Array>
}

/** From `start` up to, not including, `end`; both lie within the object. */
export interface ByteRange {
  start: number
  end: number
}

/**
 * Keeps whole objects under keys such as `recordings/<workspace>/<call>.wav` (runtime/plugin/object-key.ts). Every method
 * throws ProviderError when the provider is at fault.
 */
export interface ObjectStore {
  /** Replaces what was there; a reader sees the old object or the new one, never a part. */
  put(key: string, source: ObjectSource, contentType: string, signal: AbortSignal): Promise<void>
  /** The object, or its part in `range`. Undefined: not found. */
  get(key: string, signal: AbortSignal, range?: ByteRange): Promise<StoredObject | undefined>
  /** A public download URL, valid for this long, with this file name. Undefined: not supported. */
  url(key: string, link: { expiresInS: number; filename: string }, signal: AbortSignal): Promise<string | undefined>
  /** Removing what is not there is no error. */
  remove(key: string, signal: AbortSignal): Promise<void>
}

/** A folder of the core for object stores that bring no storage of their own. */
export interface ObjectFolder {
  put(key: string, source: ObjectSource, signal: AbortSignal): Promise<void>
  get(key: string, signal: AbortSignal, range?: ByteRange): Promise<StoredObject | undefined>
  has(key: string): Promise<boolean>
  remove(key: string): Promise<void>
  /** A signed address under which the api serves the object until then. */
  link(key: string, link: { expiresInS: number; filename: string }): string
}

interface ObjectStoreOptions {
  folder: ObjectFolder
  /** The operator's own options of the plugin, validated against the manifest. */
  settings: Readonly<Record<string, unknown>>
}

export interface CarrierOptions {
  /** Where the carrier's requests reach us; absent in processes that take none. */
  door?: CarrierEndpoint
  /** The trunks of all workspaces. */
  trunks: TrunkDirectory
  /** The operator's own options of the plugin, validated against the manifest. */
  settings: Readonly<Record<string, unknown>>
}

type Awaitable<T> = T | Promise<T>

/** What a factory of each kind makes. */
export interface PluginInstances {
  stt: stt.STT
  llm: llm.LLM
  tts: tts.TTS
  realtime: RealtimeProvider
  embedding: EmbeddingProvider
  vectorstore: VectorStore
  objectstore: ObjectStore
  tools: Toolbox
  telephony: Carrier
}

/** What a factory of each kind is given besides its host. */
export interface PluginOptions {
  stt: SpeechOptions
  llm: SpeechOptions
  tts: SpeechOptions
  realtime: SpeechOptions
  embedding: SpeechOptions
  vectorstore: VectorStoreOptions
  objectstore: ObjectStoreOptions
  tools: SpeechOptions
  telephony: CarrierOptions
}

/** A factory makes one instance for one session (stt, llm, realtime, tts) or for the process (the other kinds). */
export type PluginFactories = {
  [K in keyof PluginInstances]?: (host: PluginHost, options: PluginOptions[K]) => Awaitable<PluginInstances[K]>
} & {
  /**
   * Asks the provider for something that costs nothing and needs the key. Resolves when it answers as it should; throws
   * ProviderError (runtime/plugin-sdk/provider-error.ts) when it refuses or can't be reached.
   */
  check?: (host: PluginHost, options: CheckOptions) => Promise<void>
  /** What the plugin does of the suite of its author's tests. Of plugins in a process of their own. */
  conformance?: (host: PluginHost, options: ConformanceAsked) => Promise<Conformance[]>
  /** The voices of the operator's account; throws ProviderError. The manifest lists the public ones. */
  voices?: (host: PluginHost, options: CheckOptions) => Promise<ListedVoice[]>
}

/** A voice as the provider lists it. */
export interface ListedVoice {
  /** What agents name. */
  voice: string
  name: string
  /** Language tags; empty: any of the provider's. */
  languages: readonly string[]
  /** Where it can be listened to. */
  sampleUrl?: string
}

export interface CheckOptions {
  /** The operator's own options of the plugin, validated against the manifest. */
  settings: Readonly<Record<string, unknown>>
  signal: AbortSignal
}

export interface ConformanceAsked extends CheckOptions {
  /** What is chosen for each kind, such as its model. */
  byKind: Readonly<Record<string, { model?: string; voice?: string }>>
}

/** Marks the factories of a plugin. Does no work: importing `mod.ts` has no side effect. */
export function definePlugin(factories: PluginFactories): PluginFactories {
  return factories
}
