import { sql as foundation } from './0001-foundation.ts'
import { sql as knowledge } from './0002-knowledge.ts'
import { sql as chats } from './0003-chats.ts'
import { sql as batches } from './0004-batches.ts'
import { sql as reports } from './0005-reports.ts'
import { sql as telephony } from './0006-telephony.ts'
import { sql as trunks } from './0007-trunks.ts'
import { sql as chatCosts } from './0008-chat-costs.ts'
import { sql as agentFallbacks } from './0009-agent-fallbacks.ts'
import { sql as trunkCa } from './0010-trunk-ca.ts'
import { sql as callEvents } from './0011-call-events.ts'
import { sql as agentSpeech } from './0012-agent-speech.ts'
import { sql as batchControl } from './0013-batch-control.ts'
import { sql as callSearch } from './0014-call-search.ts'
import { sql as keysAndSessions } from './0015-keys-and-sessions.ts'
import { sql as operator } from './0016-operator.ts'
import { sql as trunkSettings } from './0019-trunk-settings.ts'
import { sql as callLines } from './0020-call-lines.ts'
import { sql as campaigns } from './0021-campaigns.ts'
import { sql as answerers } from './0026-answerers.ts'
import { sql as idempotentUploads } from './0032-idempotent-uploads.ts'
import { sql as callSums } from './0033-call-sums.ts'
import { sql as extensions } from './0035-extensions.ts'
import { sql as signalling } from './0036-signalling.ts'
import { sql as publicAgents } from './0038-public-agents.ts'
import { sql as workspaceEvents } from './0040-workspace-events.ts'
import { sql as inboundWebhooks } from './0041-inbound-webhooks.ts'
import { sql as analysis } from './0042-analysis.ts'
import { sql as overDialing } from './0046-over-dialing.ts'
import { sql as toldWorkers } from './0048-told-workers.ts'
import { sql as dialerIndexes } from './0052-dialer-indexes.ts'
import { sql as campaignCallCounts } from './0058-campaign-call-counts.ts'
import { sql as uploadMapping } from './0059-upload-mapping.ts'
import { sql as webhookDeliveryIndexes } from './0060-webhook-delivery-indexes.ts'
import { sql as listedSegments } from './0061-listed-segments.ts'
import { sql as trunkAddresses } from './0073-trunk-addresses.ts'
import { sql as dialRules } from './0075-dial-rules.ts'
import { sql as numbersOfWorkspaces } from './0076-numbers-of-workspaces.ts'
import { sql as chatSpending } from './0077-chat-spending.ts'
import { sql as securityLog } from './0079-security-log.ts'
import { sql as auditErasure } from './0080-audit-erasure.ts'
import { sql as nodeLeases } from './0082-node-leases.ts'
import { sql as backups } from './0083-backups.ts'
import { sql as refreshTokens } from './0086-refresh-tokens.ts'
import { sql as campaignPacing } from './0087-campaign-pacing.ts'
import { sql as agentManners } from './0090-agent-manners.ts'
import { sql as tokenParts } from './0091-token-parts.ts'
import { sql as maintenance } from './0094-maintenance.ts'
import { sql as workerPools } from './0095-worker-pools.ts'
import { sql as records } from './0096-records.ts'
import { sql as moreEvents } from './0098-more-events.ts'
import { sql as invitationLinks } from './0107-invitation-links.ts'
import { sql as identities } from './0108-identities.ts'
import { sql as agentVersions } from './0109-agent-versions.ts'
import { sql as rollouts } from './0110-rollouts.ts'
import { sql as agentTests } from './0111-agent-tests.ts'
import { sql as handOffs } from './0113-hand-offs.ts'
import { sql as collect } from './0114-collect.ts'
import { sql as audioTokens } from './0115-audio-tokens.ts'
import { sql as providerKeys } from './0118-provider-keys.ts'
import * as callSumsInDetail from './0119-call-sums-in-detail.ts'
import { sql as testedVersions } from './0122-tested-versions.ts'
import { sql as markedVerdicts } from './0123-marked-verdicts.ts'
import { sql as changedNumbers } from './0137-changed-numbers.ts'
import { sql as userLanguage } from './0143-user-language.ts'
import { sql as agentTranscribe } from './0145-agent-transcribe.ts'
import { sql as agentRecording } from './0146-agent-recording.ts'
import { sql as workspaceProviderKeys } from './0150-workspace-provider-keys.ts'

interface Named {
  readonly name: string
  /**
   * Of a migration that takes away what an older version uses: the migration that a process must know to run on the database.
   * Without it, older processes run on: it only adds.
   */
  readonly needs?: string
}

/** Statements of one transaction. */
export interface StatementMigration extends Named {
  readonly sql: string
}

/** Indexes of tables that may be big: built one after the other beside the traffic, then `dropped` ones go. */
export interface IndexMigration extends Named {
  readonly indexes: readonly {
    readonly name: string
    /** What follows `on`: the table and its columns. */
    readonly on: string
  }[]
  readonly dropped?: readonly string[]
  /** Without it they can't be built; then this is left out and tried again at each start. `@extschema@` in `on` is its schema. */
  readonly extension?: {
    readonly name: string
    /** What is slow where it is missing. */
    readonly without: string
  }
}

export type Migration = StatementMigration | IndexMigration

/** Every migration in the order it is applied. A released one never changes. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-foundation', sql: foundation },
  { name: '0002-knowledge', sql: knowledge },
  { name: '0003-chats', sql: chats },
  { name: '0004-batches', sql: batches },
  { name: '0005-reports', sql: reports },
  { name: '0006-telephony', sql: telephony },
  { name: '0007-trunks', sql: trunks },
  { name: '0008-chat-costs', sql: chatCosts },
  { name: '0009-agent-fallbacks', sql: agentFallbacks },
  { name: '0010-trunk-ca', sql: trunkCa },
  { name: '0011-call-events', sql: callEvents },
  { name: '0012-agent-speech', sql: agentSpeech },
  { name: '0013-batch-control', sql: batchControl },
  { name: '0014-call-search', sql: callSearch },
  { name: '0015-keys-and-sessions', sql: keysAndSessions },
  { name: '0016-operator', sql: operator },
  { name: '0019-trunk-settings', sql: trunkSettings },
  { name: '0020-call-lines', sql: callLines },
  { name: '0021-campaigns', sql: campaigns },
  { name: '0026-answerers', sql: answerers },
  { name: '0032-idempotent-uploads', sql: idempotentUploads },
  { name: '0033-call-sums', sql: callSums },
  { name: '0035-extensions', sql: extensions },
  { name: '0036-signalling', sql: signalling },
  { name: '0038-public-agents', sql: publicAgents },
  { name: '0040-workspace-events', sql: workspaceEvents },
  { name: '0041-inbound-webhooks', sql: inboundWebhooks },
  { name: '0042-analysis', sql: analysis },
  { name: '0046-over-dialing', sql: overDialing },
  { name: '0048-told-workers', sql: toldWorkers },
  { name: '0052-dialer-indexes', sql: dialerIndexes },
  { name: '0058-campaign-call-counts', sql: campaignCallCounts },
  { name: '0059-upload-mapping', sql: uploadMapping },
  { name: '0060-webhook-delivery-indexes', sql: webhookDeliveryIndexes },
  { name: '0061-listed-segments', sql: listedSegments },
  { name: '0073-trunk-addresses', sql: trunkAddresses },
  { name: '0075-dial-rules', sql: dialRules },
  { name: '0076-numbers-of-workspaces', sql: numbersOfWorkspaces },
  { name: '0077-chat-spending', sql: chatSpending },
  { name: '0079-security-log', sql: securityLog },
  { name: '0080-audit-erasure', sql: auditErasure },
  { name: '0082-node-leases', sql: nodeLeases },
  { name: '0083-backups', sql: backups },
  { name: '0086-refresh-tokens', sql: refreshTokens },
  { name: '0087-campaign-pacing', sql: campaignPacing },
  { name: '0090-agent-manners', sql: agentManners },
  { name: '0091-token-parts', sql: tokenParts },
  { name: '0094-maintenance', sql: maintenance },
  { name: '0095-worker-pools', sql: workerPools },
  { name: '0096-records', sql: records },
  {
    name: '0097-record-indexes',
    indexes: [
      { name: 'calls_by_change', on: 'calls (workspace_id, updated_at, id)' },
      {
        name: 'calls_by_external_id',
        on: 'calls (workspace_id, external_id, created_at desc, id desc) where external_id is not null',
      },
      { name: 'calls_by_prospect', on: 'calls (prospect_id) where prospect_id is not null' },
      { name: 'calls_by_metadata', on: "calls using gin (metadata jsonb_path_ops) where metadata <> '{}'" },
    ],
  },
  { name: '0098-more-events', sql: moreEvents },
  { name: '0107-invitation-links', sql: invitationLinks },
  { name: '0108-identities', sql: identities },
  { name: '0109-agent-versions', sql: agentVersions },
  { name: '0110-rollouts', sql: rollouts },
  {
    name: '0110-rollouts-indexes',
    indexes: [{ name: 'calls_by_rollout', on: 'calls (rollout_id) where rollout_id is not null' }],
  },
  { name: '0111-agent-tests', sql: agentTests },
  { name: '0113-hand-offs', sql: handOffs },
  { name: '0114-collect', sql: collect },
  { name: '0115-audio-tokens', sql: audioTokens },
  { name: '0118-provider-keys', sql: providerKeys },
  { name: '0119-call-sums-in-detail', sql: callSumsInDetail.sql },
  { name: '0120-call-sums-indexes', indexes: callSumsInDetail.indexes },
  { name: '0121-call-sums-without-key', sql: callSumsInDetail.withoutKey },
  { name: '0122-tested-versions', sql: testedVersions },
  { name: '0123-marked-verdicts', sql: markedVerdicts },
  {
    name: '0128-words-said',
    indexes: [{ name: 'call_turns_by_words', on: "call_turns using gin (to_tsvector('simple', text))" }],
  },
  {
    name: '0134-parts-of-numbers',
    extension: { name: 'pg_trgm', without: 'Searching calls by a part of a phone number reads every call' },
    indexes: [
      {
        name: 'calls_by_number_part',
        on: 'calls using gin (from_number @extschema@.gin_trgm_ops, to_number @extschema@.gin_trgm_ops)',
      },
    ],
  },
  { name: '0137-changed-numbers', sql: changedNumbers },
  {
    name: '0138-lists-by-change',
    indexes: [
      { name: 'documents_by_change', on: 'documents (agent_id, updated_at)' },
      { name: 'phone_numbers_by_change', on: 'phone_numbers (workspace_id, updated_at)' },
    ],
  },
  {
    name: '0141-words-written',
    indexes: [{ name: 'chat_messages_by_words', on: "chat_messages using gin (to_tsvector('simple', content))" }],
  },
  { name: '0143-user-language', sql: userLanguage },
  { name: '0145-agent-transcribe', sql: agentTranscribe },
  { name: '0146-agent-recording', sql: agentRecording },
  { name: '0150-workspace-provider-keys', sql: workspaceProviderKeys },
]
