/**
 * Every setting of Patchbay: its environment variable, type, default and a sentence. config/load.ts is the only
 * reader of process.env; the table of docs/configuration.md and `patchbay config` are made from this list.
 */
export interface Setting {
  env: string
  type: 'string' | 'integer' | 'number' | 'boolean' | 'url' | 'list' | 'path'
  /** `undefined`: unset unless the operator sets it. */
  default: string | number | boolean | undefined
  description: string
  secret?: true
  choices?: readonly string[]
  /** Smallest number, or shortest string. */
  min?: number
  max?: number
  /** A running process takes it anew: `patchbay reload`. */
  reload?: true
}

export const SETTINGS = {
  port: {
    env: 'PORT',
    type: 'integer',
    default: 8080,
    min: 0,
    max: 65535,
    description: 'Port of the REST API and the realtime sessions.',
  },
  host: { env: 'PATCHBAY_HOST', type: 'string', default: '0.0.0.0', description: 'Address the API listens on.' },
  adminPort: {
    env: 'PATCHBAY_ADMIN_PORT',
    type: 'integer',
    default: undefined,
    min: 0,
    max: 65535,
    description:
      'Port of the metrics, health and readiness of an api node; default the first free one from PORT + 1000.',
  },
  trustedProxies: {
    env: 'PATCHBAY_TRUSTED_PROXIES',
    type: 'list',
    default: undefined,
    description:
      'Addresses and ranges of the proxies in front of the api, whose X-Forwarded-For says where a request comes from; this machine is always one.',
  },
  allowedOrigins: {
    env: 'PATCHBAY_ALLOWED_ORIGINS',
    type: 'list',
    default: undefined,
    description:
      'Origins of a user interface that is served elsewhere (`https://app.example.com`): their pages may call the API with the cookies of a signed-in user.',
  },
  publicUrl: {
    env: 'PUBLIC_URL',
    type: 'url',
    default: undefined,
    description: 'Address under which clients reach this instance; default http://localhost:PORT.',
  },
  nodeUrl: {
    env: 'PATCHBAY_NODE_URL',
    type: 'url',
    default: undefined,
    description:
      'Address under which carriers and returning clients reach this very api node, for the media of its calls, where several nodes share PUBLIC_URL; default PUBLIC_URL.',
  },
  webrtc: {
    env: 'PATCHBAY_WEBRTC',
    type: 'string',
    default: 'auto',
    choices: ['auto', 'off', 'build'],
    description:
      'WebRTC for web calls: as soon as its media worker is there, built in the background where a compiler is; `build` installs that, too (Debian, as root).',
  },
  webrtcPort: {
    env: 'PATCHBAY_WEBRTC_PORT',
    type: 'integer',
    default: undefined,
    min: 0,
    max: 65535,
    description: 'Port of all WebRTC calls, UDP and TCP; default the first free one from PORT + 2000.',
  },
  webrtcPublicAddress: {
    env: 'PATCHBAY_WEBRTC_PUBLIC_ADDRESS',
    type: 'string',
    default: undefined,
    description:
      "IP address under which browsers reach that port, behind NAT; default that of PUBLIC_URL's host, and the machine's own.",
  },
  webrtcWorker: {
    env: 'PATCHBAY_WEBRTC_WORKER',
    type: 'path',
    default: undefined,
    description: 'Media worker of mediasoup, where it is not the one built by Patchbay.',
  },
  envFile: {
    env: 'PATCHBAY_ENV_FILE',
    type: 'string',
    default: '.env',
    description: 'File of variables, read at start for those the environment does not set; `none` reads none.',
  },
  dataDir: {
    env: 'PATCHBAY_DATA_DIR',
    type: 'path',
    default: '.data',
    description: 'Folder of the embedded database, Redis, files and generated secrets.',
  },
  backupDir: {
    env: 'PATCHBAY_BACKUP_DIR',
    type: 'path',
    default: undefined,
    description:
      'Folder that a job worker writes backups to, one each PATCHBAY_BACKUP_HOURS; unset: it makes none. The job worker needs the data folder of the api node.',
  },
  backupHours: {
    env: 'PATCHBAY_BACKUP_HOURS',
    type: 'number',
    default: 24,
    min: 0.1,
    description: 'Hours between the backups of PATCHBAY_BACKUP_DIR.',
  },
  backupKeep: {
    env: 'PATCHBAY_BACKUP_KEEP',
    type: 'integer',
    default: 7,
    min: 1,
    description: 'How many backups stay in a folder that `backup` or the job worker writes to; older ones are removed.',
  },
  backupMaxAgeHours: {
    env: 'PATCHBAY_BACKUP_MAX_AGE_HOURS',
    type: 'number',
    default: 36,
    min: 0,
    description:
      'Age of the last backup above which PatchbayBackupOld fires (patchbay_backup_age_limit_seconds); 0: never, where backups are made by other means.',
  },
  modelHub: {
    env: 'PATCHBAY_MODEL_HUB',
    type: 'url',
    default: 'https://huggingface.co',
    description:
      'Where `patchbay models pull` downloads models that run on this machine: the Hugging Face Hub or a mirror of it.',
  },
  databaseUrl: {
    env: 'DATABASE_URL',
    type: 'url',
    default: undefined,
    secret: true,
    description: 'Postgres to use instead of the embedded one.',
  },
  redisUrl: {
    env: 'REDIS_URL',
    type: 'url',
    default: undefined,
    secret: true,
    description:
      'Redis to use instead of the embedded one; with REDIS_SENTINELS its host is the name of the primary: redis://:password@mymaster/0.',
  },
  redisSentinels: {
    env: 'REDIS_SENTINELS',
    type: 'list',
    default: undefined,
    secret: true,
    description:
      'Redis Sentinels that say where the primary is, all of them, comma-separated: sentinel-1:26379, or redis://user:password@sentinel-1:26379, with rediss:// for TLS.',
  },
  jwtApiSecret: {
    env: 'JWT_API_SECRET',
    type: 'string',
    default: undefined,
    secret: true,
    min: 32,
    description:
      'Secret that signs access tokens; at least 32 characters. Generated and kept in the data folder by the embedded default, required with DATABASE_URL.',
  },
  jwtApiSecretVerify: {
    env: 'JWT_API_SECRET_VERIFY',
    type: 'list',
    default: undefined,
    secret: true,
    description:
      'Further secrets whose access tokens and links to files are accepted, comma-separated: while JWT_API_SECRET is changed, the next one before it signs and the previous one afterwards.',
  },
  dataKey: {
    env: 'PATCHBAY_DATA_KEY',
    type: 'string',
    default: undefined,
    secret: true,
    min: 32,
    description:
      'Secret that seals passwords of trunks and headers of tools in the database; at least 32 characters. Generated and kept in the data folder by the embedded default, required with DATABASE_URL. What an older version sealed under JWT_API_SECRET is sealed anew at start.',
  },
  dataKeyOld: {
    env: 'PATCHBAY_DATA_KEY_OLD',
    type: 'list',
    default: undefined,
    secret: true,
    description:
      'Earlier values of PATCHBAY_DATA_KEY, and the next one while it is changed, comma-separated: what they sealed is opened, and sealed anew under PATCHBAY_DATA_KEY at start.',
  },
  signup: {
    env: 'PATCHBAY_SIGNUP',
    type: 'string',
    default: undefined,
    choices: ['open', 'invitation', 'closed'],
    description:
      'Who may sign up; default: requests from the machine itself, none where PUBLIC_URL is not a loopback address. The first user comes from there, too, or by the link that the start prints. The operator may set it over the API, too.',
  },
  invitations: {
    env: 'PATCHBAY_INVITATIONS',
    type: 'string',
    default: 'immediate',
    choices: ['immediate', 'accept'],
    description:
      'What an invitation does to a registered user: `immediate` makes them a member at once, `accept` asks them first.',
  },
  ssoIssuer: {
    env: 'PATCHBAY_SSO_ISSUER',
    type: 'url',
    default: undefined,
    description:
      'Identity provider by which people sign in, too (OpenID Connect), such as https://login.example.com/realms/voice. Register PUBLIC_URL/auth/sso/callback there.',
  },
  ssoClientId: {
    env: 'PATCHBAY_SSO_CLIENT_ID',
    type: 'string',
    default: undefined,
    description: 'Name of this installation at the identity provider.',
  },
  ssoClientSecret: {
    env: 'PATCHBAY_SSO_CLIENT_SECRET',
    type: 'string',
    default: undefined,
    secret: true,
    description: 'Its secret there; left out for a public client.',
  },
  ssoName: {
    env: 'PATCHBAY_SSO_NAME',
    type: 'string',
    default: 'Single sign-on',
    description: 'What the sign-in page calls the identity provider.',
  },
  ssoScopes: {
    env: 'PATCHBAY_SSO_SCOPES',
    type: 'string',
    default: 'openid email profile',
    description: 'Scopes that are asked for, separated by spaces; some providers tell groups by a scope of its own.',
  },
  ssoGroupsClaim: {
    env: 'PATCHBAY_SSO_GROUPS_CLAIM',
    type: 'string',
    default: 'groups',
    description: 'Claim that lists the groups of a person.',
  },
  ssoRoles: {
    env: 'PATCHBAY_SSO_ROLES',
    type: 'list',
    default: undefined,
    description:
      'Roles by group, comma-separated: group=workspace:role, with the slug of the workspace and member, developer or admin. Applied at each sign-in; a membership that groups gave ends with them.',
  },
  newWorkspaceProviders: {
    env: 'PATCHBAY_NEW_WORKSPACE_PROVIDERS',
    type: 'list',
    default: undefined,
    description:
      'The providers that a new workspace may use, unless an operator makes it: names, or * for all; default: those that need no key. PATCH /operator/workspaces/{workspace_id} changes it for one.',
  },
  operators: {
    env: 'PATCHBAY_OPERATORS',
    type: 'list',
    default: undefined,
    description:
      'E-mail addresses of those who run the installation, comma-separated; the first user of a fresh embedded instance is one, too, and so is the user who signed up by the link that the start prints.',
  },
  otlpEndpoint: {
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    type: 'url',
    default: undefined,
    description:
      'Collector that calls are sent to as traces, by OTLP over HTTP, such as http://localhost:4318; without it there are none.',
  },
  otlpHeaders: {
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    type: 'list',
    default: undefined,
    secret: true,
    description: 'Headers for the collector: name=value, the value percent-encoded.',
  },
  otelServiceName: {
    env: 'OTEL_SERVICE_NAME',
    type: 'string',
    default: 'patchbay',
    min: 1,
    description: 'What the service is called in traces.',
  },
  traceContent: {
    env: 'PATCHBAY_TRACE_CONTENT',
    type: 'boolean',
    default: false,
    description: 'Whether traces tell what callers, agents and tools said.',
  },
  smtpUrl: {
    env: 'SMTP_URL',
    type: 'url',
    default: undefined,
    secret: true,
    description:
      'Server that sends mail, as smtp://user:password@host:587 or smtps://…; without it the operator hands links out.',
  },
  mailFrom: {
    env: 'PATCHBAY_MAIL_FROM',
    type: 'string',
    default: 'Patchbay <patchbay@localhost>',
    description: 'Sender of mail.',
  },
  trunksAllowNet: {
    env: 'PATCHBAY_TRUNKS_ALLOW_NET',
    type: 'list',
    default: undefined,
    description: 'Private addresses and ranges that SIP trunks of any workspace may name, comma-separated.',
  },
  linkToken: {
    env: 'PATCHBAY_LINK_TOKEN',
    type: 'string',
    default: undefined,
    secret: true,
    min: 16,
    description:
      'Secret a voice worker shows to an api node; at least 16 characters. Generated and kept in the data folder by npm start, required where api and voice start alone.',
  },
  linkTokenVerify: {
    env: 'PATCHBAY_LINK_TOKEN_VERIFY',
    type: 'list',
    default: undefined,
    secret: true,
    description:
      'Further link tokens that an api node accepts, comma-separated: while PATCHBAY_LINK_TOKEN is changed, the one that voice workers do not show yet, or no longer.',
  },
  apiUrls: {
    env: 'PATCHBAY_API_URLS',
    type: 'list',
    default: undefined,
    description:
      'The api nodes a voice worker dials, as ws:// or wss:// addresses, comma-separated; default the local one.',
  },
  accessTokenTtlS: {
    env: 'PATCHBAY_ACCESS_TOKEN_TTL_S',
    type: 'integer',
    default: 900,
    min: 1,
    description: 'Lifetime of an access token in seconds.',
  },
  refreshTokenTtlS: {
    env: 'PATCHBAY_REFRESH_TOKEN_TTL_S',
    type: 'integer',
    default: 2592000,
    min: 1,
    description: 'Lifetime of a refresh token in seconds.',
  },
  maxUploadBytes: {
    env: 'PATCHBAY_MAX_UPLOAD_BYTES',
    type: 'integer',
    default: 52428800,
    min: 1,
    description: 'Largest file an upload may hold, in bytes.',
  },
  voiceWorkers: {
    env: 'PATCHBAY_VOICE_WORKERS',
    type: 'integer',
    default: 1,
    min: 0,
    max: 256,
    description: 'Voice worker processes that npm start runs.',
  },
  workerPool: {
    env: 'PATCHBAY_WORKER_POOL',
    type: 'string',
    default: '',
    description:
      'Pool that a voice worker belongs to (`eu`, `acme`): it serves only the calls that the operator gave to that pool (`/operator/worker-pools`); empty: all others.',
  },
  workerCapacity: {
    env: 'PATCHBAY_WORKER_CAPACITY',
    type: 'integer',
    default: 20,
    min: 1,
    max: 1000,
    reload: true,
    description: 'Sessions one voice worker takes at once.',
  },
  workerMaxLagMs: {
    env: 'PATCHBAY_WORKER_MAX_LAG_MS',
    type: 'integer',
    default: 100,
    min: 10,
    description: 'A worker whose event loop lags more than this takes no new session.',
  },
  wrapUpMs: {
    env: 'PATCHBAY_WRAP_UP_MS',
    type: 'integer',
    default: 0,
    min: 0,
    description: 'Rest of a worker slot between two sessions, in milliseconds.',
  },
  jobsAdminPort: {
    env: 'PATCHBAY_JOBS_ADMIN_PORT',
    type: 'integer',
    default: undefined,
    min: 0,
    max: 65535,
    description: "The same of a job worker; default the first free one after the api node's.",
  },
  voiceAdminPort: {
    env: 'PATCHBAY_VOICE_ADMIN_PORT',
    type: 'integer',
    default: undefined,
    min: 0,
    max: 65535,
    description:
      'The same of a voice worker, of the first where npm start runs several, counted up from there; default the first free one after those of the api node and the jobs.',
  },
  metricsHost: {
    env: 'PATCHBAY_METRICS_HOST',
    type: 'string',
    default: '127.0.0.1',
    description: 'Address every role serves its metrics, health and readiness on.',
  },
  metricsToken: {
    env: 'PATCHBAY_METRICS_TOKEN',
    type: 'string',
    default: undefined,
    secret: true,
    min: 16,
    description: 'Bearer token that who reads metrics must show, the same for all roles; at least 16 characters.',
  },
  queueWaitMs: {
    env: 'PATCHBAY_QUEUE_WAIT_MS',
    type: 'integer',
    default: 5000,
    min: 0,
    description: 'How long a session waits for a free worker before it ends with no_capacity.',
  },
  inboundReserve: {
    env: 'PATCHBAY_INBOUND_RESERVE',
    type: 'number',
    default: 0.1,
    min: 0,
    max: 0.9,
    description:
      'Part of all voice slots, and at least one, that calls we make leave free for those that come in and for web sessions; 0: none.',
  },
  workspaceShare: {
    env: 'PATCHBAY_WORKSPACE_SHARE',
    type: 'number',
    default: 0.9,
    min: 0.05,
    max: 1,
    description:
      'Part of the voice slots beyond the inbound reserve that one workspace may hold where there are several with an agent.',
  },
  webSessionsPerWorkspace: {
    env: 'PATCHBAY_WEB_SESSIONS_PER_WORKSPACE',
    type: 'integer',
    default: undefined,
    min: 0,
    description: 'Web sessions one workspace may have at once; default any number within its share.',
  },
  storagePerWorkspaceBytes: {
    env: 'PATCHBAY_STORAGE_PER_WORKSPACE_BYTES',
    type: 'integer',
    default: 10 * 1024 * 1024 * 1024,
    min: 0,
    description: 'What the documents of one workspace may take where the operator set it no quota.',
  },
  documentsPerAgent: {
    env: 'PATCHBAY_DOCUMENTS_PER_AGENT',
    type: 'integer',
    default: 10_000,
    min: 0,
    description: 'Documents of one agent.',
  },
  passagesPerAgent: {
    env: 'PATCHBAY_PASSAGES_PER_AGENT',
    type: 'integer',
    default: 200_000,
    min: 0,
    description: 'Passages of the documents of one agent: what a search goes through, and an api node holds in memory.',
  },
  recoveryWaitMs: {
    env: 'PATCHBAY_RECOVERY_WAIT_MS',
    type: 'integer',
    default: 20000,
    min: 0,
    description: 'How long a running call whose worker died waits for another before it ends with worker_lost.',
  },
  eventsDays: {
    env: 'PATCHBAY_EVENTS_DAYS',
    type: 'integer',
    default: 30,
    min: 1,
    max: 3650,
    description: "How many days calls' events are kept; they go by whole months. What GET /calls/{id} shows stays.",
  },
  ringTimeoutMs: {
    env: 'PATCHBAY_RING_TIMEOUT_MS',
    type: 'integer',
    default: 30000,
    min: 15000,
    description: 'How long an outbound call may ring.',
  },
  sipPort: {
    env: 'PATCHBAY_SIP_PORT',
    type: 'integer',
    default: 5060,
    min: 0,
    max: 65535,
    description: 'UDP and TCP port of SIP calls; 0 takes and places none.',
  },
  sipHost: {
    env: 'PATCHBAY_SIP_HOST',
    type: 'string',
    default: '0.0.0.0',
    description: 'Address SIP and the media of its calls listen on.',
  },
  sipPublicAddress: {
    env: 'PATCHBAY_SIP_PUBLIC_ADDRESS',
    type: 'string',
    default: undefined,
    description: 'IP address under which SIP trunks reach this machine, where a NAT stands between.',
  },
  rtpPorts: {
    env: 'PATCHBAY_RTP_PORTS',
    type: 'string',
    default: '16384-18383',
    description: 'UDP ports of the media of SIP calls, two a call.',
  },
  hepUrl: {
    env: 'PATCHBAY_HEP_URL',
    type: 'string',
    default: undefined,
    description:
      'Collector that a copy of every SIP message is sent to (HEP3, as Homer takes it): udp://homer.example.com:9060. Credentials are left out.',
  },
  idleTimeoutMs: {
    env: 'PATCHBAY_IDLE_TIMEOUT_MS',
    type: 'integer',
    default: 60000,
    min: 1000,
    description: 'A caller who says nothing this long while the agent listens is hung up on.',
  },
  maxCallDurationMs: {
    env: 'PATCHBAY_MAX_CALL_DURATION_MS',
    type: 'integer',
    default: 3600000,
    min: 1000,
    description: 'Longest call.',
  },
  realtimeSampleRateHz: {
    env: 'PATCHBAY_REALTIME_SAMPLE_RATE_HZ',
    type: 'integer',
    default: 24000,
    min: 8000,
    max: 48000,
    description: 'Sample rate of realtime WebSocket sessions.',
  },
  audioFirst: {
    env: 'PATCHBAY_AUDIO_FIRST',
    type: 'string',
    default: 'true',
    choices: ['true', 'nice', 'false'],
    description:
      "Whether loops that carry audio go before the machine's other work on the processor, where Linux lets them: in real time (CAP_SYS_NICE or a limit of real-time priorities), else by niceness; `nice`: by niceness alone; `false`: priorities stay as the process was started with them.",
  },
  recordCalls: {
    env: 'PATCHBAY_RECORD_CALLS',
    type: 'boolean',
    default: false,
    description:
      'Records calls in stereo, where `recording` of their agent does not say otherwise. Many countries want the consent of everybody on the line: set `consent_message` of your agents.',
  },
  defaultLlm: {
    env: 'PATCHBAY_DEFAULT_LLM',
    type: 'string',
    default: undefined,
    description:
      'Language-model provider of new agents that name none; default one whose key is set (docs/providers.md), else offline.',
  },
  defaultStt: {
    env: 'PATCHBAY_DEFAULT_STT',
    type: 'string',
    default: undefined,
    description:
      'Speech-to-text provider of new agents that name none; default one whose key is set (docs/providers.md), else sim.',
  },
  defaultTts: {
    env: 'PATCHBAY_DEFAULT_TTS',
    type: 'string',
    default: undefined,
    description:
      'Text-to-speech provider of new agents that name none; default one whose key is set (docs/providers.md), else offline.',
  },
  embedding: {
    env: 'PATCHBAY_EMBEDDING',
    type: 'string',
    default: undefined,
    description:
      'Provider of embeddings for knowledge bases, as provider or provider/model, or none; default the first whose key is set.',
  },
  allowNet: {
    env: 'PATCHBAY_ALLOW_NET',
    type: 'list',
    default: undefined,
    description: 'Network grants of plugins, as --allow-net: plugin:host:port, comma-separated.',
  },
  allowEnv: {
    env: 'PATCHBAY_ALLOW_ENV',
    type: 'list',
    default: undefined,
    description: 'Variables plugins may read, as --allow-env: plugin:NAME, comma-separated.',
  },
  allowRun: {
    env: 'PATCHBAY_ALLOW_RUN',
    type: 'list',
    default: undefined,
    description: 'Programs plugins may run, as --allow-run: plugin:program, comma-separated.',
  },
  allowRead: {
    env: 'PATCHBAY_ALLOW_READ',
    type: 'list',
    default: undefined,
    description: 'Paths plugins may read, as --allow-read: plugin:path, comma-separated.',
  },
  allowListen: {
    env: 'PATCHBAY_ALLOW_LISTEN',
    type: 'list',
    default: undefined,
    description: 'Ports plugins may open, as --allow-listen: plugin:port or plugin:first-last, comma-separated.',
  },
  devPlugins: {
    env: 'PATCHBAY_DEV_PLUGINS',
    type: 'list',
    default: undefined,
    description:
      'Folders of plugins that are being written, comma-separated, as --dev-plugin: they are granted what they ask for, and a change of their files counts for the next session.',
  },
  pluginCatalogs: {
    env: 'PATCHBAY_PLUGIN_CATALOGS',
    type: 'list',
    default: undefined,
    description:
      'Catalogs that `patchbay plugins search` looks through, each its public key in base64, @, and its path or https address, comma-separated (docs/plugins.md#catalogs).',
  },
  pricesFile: {
    env: 'PATCHBAY_PRICES',
    type: 'string',
    default: undefined,
    reload: true,
    description: 'JSON file of prices that go before those of config/prices.json.',
  },
  callingRules: {
    env: 'PATCHBAY_CALLING_RULES',
    type: 'string',
    default: undefined,
    reload: true,
    description:
      'JSON file of calling hours whose rows replace those of config/calling-rules.json for the same state or country.',
  },
  toolsAllowNet: {
    env: 'PATCHBAY_TOOLS_ALLOW_NET',
    type: 'list',
    default: undefined,
    description: 'Private addresses the HTTP tools of agents may reach: host:port, address or range, comma-separated.',
  },
  logLevel: {
    env: 'PATCHBAY_LOG_LEVEL',
    type: 'string',
    default: 'info',
    reload: true,
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    description: 'Least severe level that is logged.',
  },
  drainMs: {
    env: 'PATCHBAY_DRAIN_MS',
    type: 'integer',
    default: 3600000,
    min: 0,
    description: 'How long a stopping process waits for its calls and requests; a second signal ends the wait.',
  },
  leaveMs: {
    env: 'PATCHBAY_LEAVE_MS',
    type: 'integer',
    default: undefined,
    min: 0,
    description:
      'How long a stopping api node says at /ready that it is not ready and serves new calls nevertheless, until balancers have noticed; default 5000, and 0 for npm start.',
  },
} as const satisfies Record<string, Setting>

type SettingType<S extends Setting> = S['type'] extends 'integer' | 'number'
  ? number
  : S['type'] extends 'boolean'
    ? boolean
    : S['type'] extends 'list'
      ? readonly string[]
      : string

/** The effective configuration. A setting without default may be undefined. */
export type Config = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends { default: undefined }
    ? SettingType<(typeof SETTINGS)[K]> | undefined
    : SettingType<(typeof SETTINGS)[K]>
}

/** What a role gets: every setting that is derived or generated when unset has its value. */
export type EffectiveConfig = Config & {
  readonly adminPort: number
  /** The operator named the admin port. */
  readonly adminPortGiven: boolean
  readonly publicUrl: string
  /** The operator named it. */
  readonly publicUrlGiven: boolean
  readonly apiUrls: readonly string[]
  readonly jwtApiSecret: string
  readonly linkToken: string
  readonly dataKey: string
}
