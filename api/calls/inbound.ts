import { uuidv7 } from 'uuidv7'
import type { Calls } from '../../runtime/call/control/calls.ts'
import type { Quotas } from '../../runtime/call/control/quotas.ts'
import type { CallJournal } from '../../runtime/call/log/journal.ts'
import { endUnconnectedCall } from '../../runtime/call/log/unconnected-call.ts'
import type { SessionLimits } from '../../runtime/call/types/agent-spec.ts'
import type { Metadata } from '../../runtime/call/types/metadata.ts'
import { fittingVariables } from '../../runtime/conversation/variables.ts'
import type { Carriers } from '../../runtime/dialing/carriers.ts'
import { countryOfNumber } from '../../runtime/dialing/country-of-number.ts'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { parsePhoneNumber } from '../../runtime/lib/phone-number.ts'
import type { DataKeys } from '../../runtime/lib/secret-box.ts'
import { cleanJson, cleanText, cutText } from '../../runtime/lib/text.ts'
import { parseInfrastructureRule } from '../../runtime/plugin/grants/net-rule.ts'
import type { PluginRegistry } from '../../runtime/plugin/host.ts'
import type { IncomingCall, IncomingRefusal } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import { LOCAL_TRUNK_ID, type TrunkDirectory } from '../../runtime/plugin-sdk/telephony/trunk.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { HttpSpans } from '../../runtime/traces/http-spans.ts'
import { agentById } from '../../store/agents/agents.ts'
import { servedAgent } from '../../store/agents/served-agents.ts'
import { insertCall } from '../../store/calls/calls.ts'
import { type CalledNumber, findCalledNumbers } from '../../store/calls/inbound-calls.ts'
import type { Store } from '../../store/database/database.ts'
import type { Agent } from '../../store/database/schema.ts'
import { hasReadyDocuments } from '../../store/knowledge/documents.ts'
import { claimCarrierCall } from '../../store/redis/carrier-calls.ts'
import type { RedisClient } from '../../store/redis/client.ts'
import { dialRulesOf } from '../../store/telephony/dial-rules.ts'
import { extensionByName } from '../../store/telephony/extensions.ts'
import { phoneNumberRow } from '../../store/telephony/phone-numbers.ts'
import { workerPoolOf } from '../../store/workspaces/worker-pools.ts'
import { limitsOf } from '../agents/speech.ts'
import { isUuid } from '../ids.ts'
import { agentSpec } from '../realtime/agent-spec.ts'
import type { McpTools } from '../tools/mcp-tools.ts'
import { askInboundWebhook } from './inbound-webhook.ts'

interface InboundOptions {
  store: Store
  redis: RedisClient
  plugins: PluginRegistry
  carriers: Carriers
  trunks: TrunkDirectory
  calls: Calls
  quotas: Quotas
  journalOf(workspaceId: string): CallJournal
  limits: SessionLimits
  mcpTools: Pick<McpTools, 'complete'>
  /** Where requests become spans; undefined: nowhere. */
  requests?: HttpSpans | undefined
  config: DataKeys & { readonly toolsAllowNet?: readonly string[] | undefined }
  clock: Clock
  log: Logger
  /** Called with each refused call and the reason. */
  refused(provider: string, reason: string): void
}

const TRUNKS_TIMEOUT_MS = 2_000
const MAX_CALLER_LENGTH = 64
/** Of one that a carrier gives. */
const MAX_VARIABLE_CHARS = 10_000

/** Takes the calls that come in over every carrier, until the signal aborts: number → agent → session. */
export function startInbound(options: InboundOptions, signal: AbortSignal): void {
  const { plugins, carriers, log } = options
  const receiving = new Set<string>()
  const receive = (): void => {
    for (const provider of plugins.catalogue.telephony.keys()) {
      if (signal.aborted || receiving.has(provider) || plugins.missingKey(provider) !== undefined) continue
      receiving.add(provider)
      carriers
        .get(provider)
        .then((carrier) => carrier.receive?.((call) => inBackground('call', answer(options, provider, call)), signal))
        .catch((err) => {
          receiving.delete(provider)
          log.error({ err, provider }, `Calls over "${provider}" can't come in`)
        })
    }
  }
  receive()
  // A carrier whose key comes later.
  plugins.keys.watch(receive)
}

/** The refusal a caller gets, and the true reason, which is the operator's alone. */
interface Refusal {
  why: IncomingRefusal
  reason: string
}

/** Never throws: the caller always gets an answer. */
async function answer(options: InboundOptions, provider: string, call: IncomingCall): Promise<void> {
  const { log, refused } = options
  const { to, from, announcedAs } = call
  try {
    if (announcedAs !== undefined && !(await claimCarrierCall(options.redis, provider, announcedAs))) {
      log.info({ provider, carrierId: announcedAs }, 'The carrier announced a call again; it is one call')
      call.ignore?.()
      return
    }
    const refusal = await admit(options, provider, call)
    if (refusal === undefined) return
    refused(provider, refusal.reason)
    log.warn({ provider, to, from, ...refusal }, 'An incoming call was refused')
    call.reject(refusal.why)
  } catch (err) {
    refused(provider, 'failed')
    log.error({ err, provider, to, from }, 'An incoming call could not be taken')
    call.reject('failed')
  }
}

async function admit(options: InboundOptions, provider: string, call: IncomingCall): Promise<Refusal | undefined> {
  const { store, calls, quotas, journalOf, limits, clock } = options
  const found = await findCalled(options, provider, call)
  if (typeof found === 'string') return { why: found, reason: found }
  const { called, trunk } = found
  const number = parsePhoneNumber(call.to) ?? cleanText(call.to, MAX_CALLER_LENGTH)
  const tenant = store.tenant(called.workspaceId)
  const callId = uuidv7()
  const from = call.from === undefined ? null : (parsePhoneNumber(call.from) ?? cleanText(call.from, MAX_CALLER_LENGTH))
  const asked = await whoAnswers(options, { provider, callId, from, number, called }, call.signal)
  if (asked.rejected) return { why: 'forbidden', reason: 'inbound_webhook' }
  if (asked.agent === undefined) return { why: 'no_agent', reason: 'no_agent' }
  const served = await servedAgent(store, called.workspaceId, asked.agent, {
    ...{ callId, channel: 'phone', contact: from, calledNumber: number, variables: asked.variables },
    country: countryOfNumber(from),
  })
  if ('refused' in served) return { why: 'no_capacity', reason: 'quota_reached' }
  const { agent } = served
  if (call.signal.aborted) return undefined
  const place = await quotas.take({ kind: 'phone', callId, workspaceId: called.workspaceId, number })
  if (place !== 'taken') return { why: 'no_capacity', reason: place }
  try {
    const variables = fittingVariables(asked.variables, cleanJson(call.variables?.(trunk) ?? {}, MAX_VARIABLE_CHARS))
    const own = agentSpec(agent, variables, await hasReadyDocuments(tenant, agent), {
      nowMs: clock.nowMs(),
      callId,
      direction: 'inbound',
      callerNumber: from,
      calledNumber: number,
    })
    const { spec, faults } = await options.mcpTools.complete(agent, own)
    const rules = await dialRulesOf(store, called.workspaceId)
    const pool = await workerPoolOf(store, { agentId: agent.id, workspaceId: called.workspaceId, number })
    await insertCall(tenant, {
      id: callId,
      agent_id: agent.id,
      agent_name: agent.agent_name,
      call_type: 'phone',
      direction: 'inbound',
      // From here on the reaper ends it, should this node die.
      status: 'ringing',
      from_number: from,
      to_number: number,
      dynamic_variables: JSON.stringify(variables),
      external_id: asked.externalId ?? null,
      metadata: JSON.stringify(asked.metadata ?? {}),
      created_at: new Date(clock.nowMs()),
    })
    const leg = call.signal.aborted
      ? undefined
      : await call.accept({ callId, rules, ...(trunk === undefined ? {} : { trunk }) })
    if (leg === undefined) {
      quotas.release(callId)
      const end = { status: 'canceled', endReason: 'caller_hangup', disposition: 'hung_up' } as const
      await endUnconnectedCall(clock, journalOf(called.workspaceId), callId, end)
      return undefined
    }
    inBackground(
      'call',
      calls
        .start({
          callId,
          claim: { kind: 'inbound', workspaceId: called.workspaceId, pool },
          agent: spec,
          limits: limitsOf(agent, limits),
          leg,
          journal: journalOf(called.workspaceId),
        })
        .finally(() => quotas.release(callId)),
    )
    for (const fault of faults) calls.fault(callId, 'tool', fault)
    if (asked.fault !== undefined) calls.fault(callId, 'session', `inbound_webhook: ${asked.fault}`)
    return undefined
  } catch (error) {
    quotas.release(callId)
    throw error
  }
}

interface WhoAnswers {
  agent: Agent | undefined
  variables: Readonly<Record<string, string>>
  externalId?: string | undefined
  metadata?: Metadata | undefined
  /** The workspace wants the call unanswered. */
  rejected: boolean
  fault?: string
}

/** The number's agent, or the one its webhook names. An unusable webhook response changes nothing. */
async function whoAnswers(
  { store, clock, config, requests, log }: InboundOptions,
  asked: { provider: string; callId: string; from: string | null; number: string; called: CalledNumber },
  signal: AbortSignal,
): Promise<WhoAnswers> {
  const { provider, callId, from, number, called } = asked
  const { workspaceId, agentId, inboundWebhook } = called
  const tenant = store.tenant(workspaceId)
  const own = async () => (agentId === null ? undefined : agentById(tenant, agentId))
  if (inboundWebhook == null) return { agent: await own(), variables: {}, rejected: false }
  const answer = await askInboundWebhook(
    {
      url: inboundWebhook,
      secret: called.inboundWebhookSecret ?? null,
      ...{ callId, workspaceId, from, to: number, provider, agentId },
    },
    {
      allowed: (config.toolsAllowNet ?? []).map(parseInfrastructureRule),
      ...{ keys: config, requests, clock, log, signal },
    },
  )
  if ('fault' in answer) return { agent: await own(), variables: {}, rejected: false, fault: answer.fault }
  const { agent_id: named, dynamic_variables: variables = {}, reject = false, external_id, metadata } = answer.says
  const said = { variables, externalId: external_id, metadata }
  if (named === undefined || reject) return { agent: await own(), ...said, rejected: reject }
  const agent = isUuid(named) ? await agentById(tenant, named) : undefined
  if (agent !== undefined) return { agent, ...said, rejected: false }
  return {
    agent: await own(),
    ...said,
    rejected: false,
    fault: `it named an agent that does not exist: ${cutText(named, 100)}`,
  }
}

/** One of our phones calls a number of its own workspace, or an extension that an agent answers. */
async function findForExtension(
  { store }: InboundOptions,
  { to, trunks }: IncomingCall,
  { workspaceId }: NonNullable<IncomingCall['extension']>,
): Promise<{ called: CalledNumber; trunk: string | undefined } | 'unknown_number'> {
  const tenant = store.tenant(workspaceId)
  const number = parsePhoneNumber(to)
  const row = number === undefined ? undefined : await phoneNumberRow(tenant, number)
  const agentId = row === undefined ? (await extensionByName(tenant, to))?.agent_id : row.agent_id
  const webhook = row?.inbound_webhook ?? null
  if (agentId == null && webhook === null) return 'unknown_number'
  const asked = { inboundWebhook: webhook, inboundWebhookSecret: row?.inbound_webhook_secret ?? null }
  return { called: { workspaceId, agentId: agentId ?? null, trunk: row?.trunk ?? null, ...asked }, trunk: trunks?.[0] }
}

/** The owner of the dialled number, by trunk; otherwise the trunk's default agent. */
async function findCalled(
  options: InboundOptions,
  provider: string,
  call: IncomingCall,
): Promise<{ called: CalledNumber; trunk: string | undefined } | 'unknown_number' | 'foreign_trunk'> {
  const { extension } = call
  if (extension !== undefined) return findForExtension(options, call, extension)
  const number = parsePhoneNumber(call.to)
  const registered = number === undefined ? [] : await findCalledNumbers(options.store, provider, number)
  if (call.trunks === undefined) {
    const [called] = registered
    return called === undefined ? 'unknown_number' : { called, trunk: undefined }
  }
  const known = await options.trunks.list(signalWithin(TRUNKS_TIMEOUT_MS))
  const own = known.filter(({ id }) => call.trunks?.includes(id))
  // A number is valid only over its workspace's trunks, even if others registered the same.
  for (const called of registered) {
    const trunk = own.find(({ workspaceId, name }) => workspaceId === called.workspaceId && name === called.trunk)
    if (trunk !== undefined) return { called, trunk: trunk.id }
  }
  const [first] = registered
  if (first !== undefined && call.trunks.includes(LOCAL_TRUNK_ID)) return { called: first, trunk: LOCAL_TRUNK_ID }
  // A number that is registered is its workspaces': no other trunk's default agent answers it.
  if (first !== undefined) return 'foreign_trunk'
  const open = own.filter(({ settings }) => settings.default_agent_id !== null)
  // Two trunks share the address: the call's trunk is ambiguous.
  if (open.length !== 1 || open[0] === undefined) return 'unknown_number'
  const { id, name, workspaceId, settings } = open[0]
  return {
    called: { workspaceId, agentId: settings.default_agent_id, trunk: name },
    trunk: id,
  }
}
