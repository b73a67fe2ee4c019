/** Names for the parts of named schemas, so that generators of clients need not make up their own. */

type Json = Record<string, unknown>

/**
 * Where the name by the rule would mislead: a part that several owners share, what hides something of a language, and answers that are
 * no more than their operation's.
 */
export const RENAMED: Readonly<Record<string, string>> = {
  AddDoNotCallAnswer: 'DoNotCallEntry',
  AgentFallbacksLLM: 'ModelFallback',
  AgentFallbacksTTS: 'VoiceFallback',
  Audit: 'AuditEntry',
  CallAnsweredBy: 'AnsweredBy',
  CallCallType: 'CallType',
  CallMcpAnswer: 'McpAnswer',
  CampaignPausedEventData: 'CampaignEventData',
  CampaignRetryBusy: 'RetryStep',
  DashboardInterval: 'ReportInterval',
  DoNotCallPageItem: 'DoNotCallItem',
  DoNotCallPageItemSource: 'DoNotCallSource',
  DocumentReadyEventData: 'DocumentEventData',
  ErasePersonAnswer: 'Erasure',
  EventPageItem: 'WorkspaceEvent',
  ExtensionPhone: 'RegisteredPhone',
  GetCallSipAnswer: 'CallSignalling',
  GetHealthAnswer: 'Health',
  GetReadinessAnswer: 'Readiness',
  GetSignupOfferAnswer: 'SignupOffer',
  Link: 'PasswordLink',
  ListAgentToolsAnswer: 'AgentToolList',
  ListDoNotCallAnswer: 'DoNotCallPage',
  ListRefusedCallsAnswer: 'RefusedCallPage',
  ListedApiKey: 'ApiKey',
  ListedApiKeyPage: 'ApiKeyPage',
  ListenToCallAnswer: 'Listening',
  ListeningWebrtc: 'WebrtcSettings',
  ListeningWebrtcIceServer: 'IceServer',
  ListeningWebrtcTransport: 'WebrtcTransport',
  MemberRole: 'Role',
  NewExtension: 'CreatedExtension',
  Query: 'KnowledgeResult',
  QueryInput: 'KnowledgeQuery',
  RefusedCallPageItem: 'RefusedCall',
  Request: 'RecordedRequest',
  Security: 'SecurityEntry',
  Settings: 'InstallationSettings',
  Status: 'CampaignProgress',
  StreamEventsAnswer: 'EventPage',
  Summary: 'CallSummary',
  TestDefinitionExpectGuarded: 'CallEventGuardedRule',
  TestDefinitionCallerSayKind2: 'ScriptedLine',
  TestDefinitionExpectLatencyP95Ms: 'LatencyBound',
  TestDefinitionToolKind1: 'ToolMock',
  TestDefinitionToolKind1State: 'ToolMockState',
  TrunkNumberType: 'NumberType',
  TrunkUpEventData: 'TrunkEventData',
  TryAgentToolAnswer: 'ToolTrial',
  UploadDoNotCallAnswer: 'DoNotCallUpload',
  UploadProspectsAnswer: 'UploadStarted',
  WorkerLostEventData: 'WorkerEventData',
}

export const renamed = (name: string): string => RENAMED[name] ?? name

/** What may stand beside a reference, and so differ from place to place. */
const BESIDE = new Set(['description', 'default', 'examples'])
const LEAST_FIELDS = 2

/**
 * The schemas of the document with every enum of texts and every object of two fields or more in them named and referred to: `Agent` and
 * its field `tools` make `AgentTool`. What is the same in several places has one name, by its shortest owner.
 */
export function namePartsOf(schemas: Json): { schemas: Json; refer(value: unknown): unknown } {
  const names = new Map<string, string>()
  const parts = new Map<string, Json>()
  const taken = new Set(Object.keys(schemas))
  const owners = Object.keys(schemas).sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  for (const owner of owners) {
    visitParts(schemas[owner] as Json, owner, (part, wanted) => {
      const text = textOf(part)
      if (names.has(text)) return
      const name = freeName(renamed(wanted), taken)
      names.set(text, name)
      parts.set(name, part)
      taken.add(name)
    })
  }

  const refer = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(refer)
    if (typeof value !== 'object' || value === null) return value
    const schema = value as Json
    const name = hasName(schema) ? names.get(textOf(schema)) : undefined
    if (name === undefined) return referIn(schema)
    const beside = Object.entries(schema).filter(([key]) => BESIDE.has(key))
    return { $ref: `#/components/schemas/${name}`, ...Object.fromEntries(beside) }
  }
  const referIn = (schema: Json): Json =>
    Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, isData(key, schema) ? value : refer(value)]))
  const named = Object.entries(schemas).map(([name, schema]) => [name, referIn(schema as Json)] as const)
  const own = [...parts].map(([name, { default: _, ...part }]) => [name, referIn(part)] as const)
  return { schemas: Object.fromEntries([...named, ...own.sort(([a], [b]) => (a < b ? -1 : 1))]), refer }
}

/** Calls back for each part that gets a name, the outer before the inner. */
function visitParts(schema: Json, name: string, found: (part: Json, name: string) => void): void {
  const visit = (value: unknown, wanted: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (hasName(value as Json)) found(value as Json, wanted)
    visitParts(value as Json, wanted, found)
  }
  for (const [field, property] of Object.entries((schema.properties ?? {}) as Json))
    visit(property, name + capitals(field))
  if (schema.items !== undefined) visit(schema.items, singular(name))
  if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties, singular(name))
  for (const union of [schema.anyOf, schema.oneOf, schema.allOf]) {
    if (!Array.isArray(union)) continue
    const members = union.filter((member: Json) => member.type !== 'null')
    for (const [index, member] of (members as Json[]).entries()) {
      visit(member, members.length === 1 ? name : `${name}${kindOf(member) ?? `Kind${index + 1}`}`)
    }
  }
}

/** What tells a member of a union from the others: the constant of its `type`. */
function kindOf({ properties }: Json): string | undefined {
  const { type } = (properties ?? {}) as { type?: { const?: unknown } }
  return typeof type?.const === 'string' ? capitals(type.const) : undefined
}

function hasName({ type, properties, enum: values, $ref }: Json): boolean {
  if ($ref !== undefined) return false
  if (type === 'string') return Array.isArray(values) && values.length > 1
  return type === 'object' && Object.keys((properties ?? {}) as Json).length >= LEAST_FIELDS
}

function textOf(schema: Json): string {
  return JSON.stringify(Object.entries(schema).filter(([key]) => !BESIDE.has(key)))
}

/** Whether the keyword holds values, not schemas. A field of an object may be called like one. */
function isData(key: string, schema: Json): boolean {
  const isKeyword = 'type' in schema ? typeof schema.type === 'string' : true
  return isKeyword && ['default', 'example', 'examples', 'enum', 'const', 'required'].includes(key)
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}${number}`
    if (!taken.has(name)) return name
  }
}

const capitals = (field: string): string =>
  field.replace(/(?:^|[^A-Za-z0-9]+)(\w)/g, (_, letter: string) => letter.toUpperCase())

const singular = (name: string): string =>
  /(?:ss|us|series)$/i.test(name) ? name : name.replace(/ies$/, 'y').replace(/s$/, '')
