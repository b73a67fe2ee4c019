import type { EffectiveConfig } from '../config/schema.ts'
import type { Prices } from '../runtime/call/cost.ts'
import type { CallingLaw } from '../runtime/dialing/calling-law.ts'
import type { Carriers } from '../runtime/dialing/carriers.ts'
import type { Embeddings } from '../runtime/knowledge/embeddings.ts'
import type { TrustedProxies } from '../runtime/lib/client-address.ts'
import type { Clock } from '../runtime/lib/clock.ts'
import type { ModelDownloads } from '../runtime/models/model-downloads.ts'
import type { ObjectStore, VectorStore } from '../runtime/plugin/contract.ts'
import type { DefaultProviders } from '../runtime/plugin/default-providers.ts'
import type { PluginRegistry } from '../runtime/plugin/host.ts'
import type { ProviderHealth } from '../runtime/plugin/provider-health.ts'
import type { ProviderVoices } from '../runtime/plugin/provider-voices.ts'
import type { Logger } from '../runtime/process/log.ts'
import type { Mailer } from '../runtime/process/mail.ts'
import type { Reloads } from '../runtime/process/reloads.ts'
import type { ArgumentChecks } from '../runtime/tools/argument-check.ts'
import type { AskStores } from '../store/connections/readiness.ts'
import type { Store } from '../store/database/database.ts'
import type { RedisClient } from '../store/redis/client.ts'
import type { ProviderKeyBook } from '../workers/provider-keys.ts'
import type { JobQueue } from '../workers/queues.ts'
import type { AccessTokens } from './auth/access-token.ts'
import type { LoginThrottle } from './auth/login-throttle.ts'
import type { Operators } from './auth/operators.ts'
import type { SecurityLog } from './auth/security-log.ts'
import type { IdentityProvider } from './auth/sso/identity-provider.ts'
import type { StandingRights } from './auth/standing-rights.ts'
import type { Outbound } from './calls/outbound-start.ts'
import type { RecordingsOfNodes } from './calls/recordings-of-nodes.ts'
import type { Live } from './events/live.ts'
import type { Incoming } from './http/server.ts'
import type { Sessions } from './realtime/start.ts'
import type { AskWorkload } from './reports/workload.ts'
import type { RequestLog } from './requests/request-log.ts'
import type { AskReadiness } from './system/readiness.ts'
import type { McpTools } from './tools/mcp-tools.ts'
import type { ToolCalls } from './tools/tool-calls.ts'
import type { TrunkRegistry } from './trunks/book.ts'

/** Where things are kept, and what works on them later. */
export interface DataServices {
  readonly store: Store
  /** For uploads that are loaded over a connection of their own; everything else goes through `store`. */
  readonly databaseUrl: string
  readonly redis: RedisClient
  /** Recordings and other data kept as whole files. */
  readonly objects: ObjectStore
  /** Recordings that other api nodes have in their folders. */
  readonly recordingsOfNodes: RecordingsOfNodes
  /** Finds passages of agents' documents; use it through api/knowledge/retrieve.ts. */
  readonly vectors: VectorStore
  /** Makes vectors of questions; undefined where the operator has no provider of them. */
  readonly embeddings: Embeddings | undefined
  readonly documentJobs: JobQueue<'documents'>
  readonly batchJobs: JobQueue<'batches'>
  /** Keys of providers that an operator stored. */
  readonly providerKeys: ProviderKeyBook
  /** What API keys asked for. */
  readonly requestLog: RequestLog
}

/** Providers, what they cost, and the tools of agents. */
export interface PluginServices {
  /** Makes providers; its catalogue lists those an agent may name. */
  readonly plugins: PluginRegistry
  /** Who serves new agents that name no provider. */
  readonly defaultProviders: DefaultProviders
  /** Downloads models to this machine; undefined where its voice workers run elsewhere. */
  readonly modelDownloads: ModelDownloads | undefined
  /** Which providers refuse to serve, and why. */
  readonly providerHealth: ProviderHealth
  /** The voices agents may name. */
  readonly providerVoices: ProviderVoices
  /** What the use of models costs. */
  readonly prices: Prices
  /** Checks arguments of tools against what their tenants wrote. */
  readonly argumentChecks: ArgumentChecks
  /** What agents find at MCP servers. */
  readonly mcpTools: McpTools
}

export interface TelephonyServices {
  /** The telephony plugins' carriers of this process. */
  readonly carriers: Carriers
  /** The SIP trunks of all workspaces. */
  readonly trunks: TrunkRegistry
  /** The law of calling hours, and where numbers are. */
  readonly calling: CallingLaw
}

/** What runs on this node now. */
export interface LiveServices {
  /** The running calls and the voice workers of this node. */
  readonly sessions: Sessions
  /** Places calls, on whichever node takes them. */
  readonly outbound: Outbound
  /** Calls the tools of agents. */
  readonly tools: ToolCalls
  /** The live streams of this node. */
  readonly live: Live
  /** Ends what is open when the right to it ends. */
  readonly standing: StandingRights
}

export interface AuthServices {
  readonly accessTokens: AccessTokens
  readonly isTrustedProxy: TrustedProxies
  readonly throttle: LoginThrottle
  /** Writes down what happens at the door: logins, links, keys. */
  readonly security: SecurityLog
  /** Undefined where no mail server is set. */
  readonly mailer: Mailer | undefined
  /** Where people can sign in, too; undefined where none is set. */
  readonly identityProvider: IdentityProvider | undefined
}

/** What handlers work with; made once, part by part, by start.ts. */
export interface Services extends DataServices, PluginServices, TelephonyServices, LiveServices, AuthServices {
  readonly config: EffectiveConfig
  readonly log: Logger
  readonly clock: Clock
  /** Settings that are read anew while it runs. */
  readonly reloads: Reloads<EffectiveConfig>
  /** Who runs the installation. */
  readonly operators: Operators
  /** Why Postgres or Redis cannot be used now. */
  readonly stores: AskStores
  /** Whether this node takes calls. */
  readonly readiness: AskReadiness
  /** What the voice workers do, scraped once a second at most. */
  readonly workload: AskWorkload
  /** Sends a request of this process along the request path. */
  handle(incoming: Incoming): Promise<void>
}
