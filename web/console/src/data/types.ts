/** The API's own schemas as types; nothing of the server comes into the page. */
import type { Static } from 'typebox'
import type { RolloutBody, RolloutInput } from '../../../../api/agents/rollout-body.ts'
import type { AgentBody, UpdateAgentInput } from '../../../../api/agents/schema.ts'
import type { DiffBody, VersionItem } from '../../../../api/agents/version-body.ts'
import type { ListedApiKeyBody } from '../../../../api/api-keys/schema.ts'
import type { UserBody } from '../../../../api/auth/schema.ts'
import type { BatchBody, BatchItemBody, BatchPreviewBody } from '../../../../api/batches/schema.ts'
import type { CallBody } from '../../../../api/calls/schema.ts'
import type { TurnBody } from '../../../../api/calls/turn-schema.ts'
import type { CampaignBody } from '../../../../api/campaigns/schema.ts'
import type { StatusBody } from '../../../../api/campaigns/status-schema.ts'
import type { ChatBody, ChatItem } from '../../../../api/chats/schema.ts'
import type { DocumentBody, PassageBody } from '../../../../api/knowledge/schema.ts'
import type { Pools } from '../../../../api/operator/pools.ts'
import type {
  AuditBody,
  MaintenanceBody,
  ModelsBody,
  OperatedUserBody,
  OperatedWorkspaceBody,
  SecurityBody,
  SettingsBody,
} from '../../../../api/operator/schema.ts'
import type { PhoneNumberBody } from '../../../../api/phone-numbers/schema.ts'
import type { UploadPreviewBody } from '../../../../api/prospects/preview-schema.ts'
import type { ProspectBody, ProspectListBody, ProspectWithAttempts } from '../../../../api/prospects/schema.ts'
import type { KeyedProvider, OwnKey } from '../../../../api/providers/schema.ts'
import type { Dashboard, Dispositions, Workload } from '../../../../api/reports/schema.ts'
import type { RequestBody } from '../../../../api/requests/schema.ts'
import type {
  JudgeAgreementBody,
  TestBody,
  TestCaseBody,
  TestRunBody,
  TestRunItem,
} from '../../../../api/tests/schema.ts'
import type { TestCallBody, TrunkCheckBody, TrunkHealthBody } from '../../../../api/trunks/health-schema.ts'
import type { TrunkBody } from '../../../../api/trunks/schema.ts'
import type { DeliveryBody, WebhookBody, WebhookWithSecretBody } from '../../../../api/webhooks/schema.ts'
import type { InvitationBody, MemberBody, RetentionBody, WorkspaceBody } from '../../../../api/workspaces/schema.ts'
import type { CallEventBody } from '../../../../runtime/call/log/events.ts'

export type { KeyedProvider, OwnKey }
export type LocalModels = Static<typeof ModelsBody>
export type User = Static<typeof UserBody>
export type Workspace = Static<typeof WorkspaceBody>
export type Member = Static<typeof MemberBody>
export type Invitation = Static<typeof InvitationBody>
export type Retention = Static<typeof RetentionBody>
export type ApiKey = Static<typeof ListedApiKeyBody>
export type Agent = Static<typeof AgentBody>
export type AgentInput = Static<typeof UpdateAgentInput>
export type AgentVersion = Static<typeof VersionItem>
export type VersionDiff = Static<typeof DiffBody>
export type Rollout = Static<typeof RolloutBody>
export type RolloutPlan = Static<typeof RolloutInput>
export type Tool = Agent['tools'][number]
export type Call = Static<typeof CallBody>
export type Chat = Static<typeof ChatItem>
export type ChatDetails = Static<typeof ChatBody>
export type CallEvent = CallEventBody & { seq: number; at: string; at_ms: number | null }
export type Turn = Static<typeof TurnBody>
export type Batch = Static<typeof BatchBody>
export type BatchItem = Static<typeof BatchItemBody>
export type BatchPreview = Static<typeof BatchPreviewBody>
export type Campaign = Static<typeof CampaignBody>
export type CampaignState = Static<typeof StatusBody>
export type ProspectList = Static<typeof ProspectListBody>
export type Prospect = Static<typeof ProspectBody>
export type ProspectDetails = Static<typeof ProspectWithAttempts>
export type UploadPreview = Static<typeof UploadPreviewBody>
export type KnowledgeDocument = Static<typeof DocumentBody>
export type Passage = Static<typeof PassageBody>
export type PhoneNumber = Static<typeof PhoneNumberBody>
export type Trunk = Static<typeof TrunkBody>
export type TrunkHealth = Static<typeof TrunkHealthBody>
export type TrunkCheck = Static<typeof TrunkCheckBody>
export type TestCall = Static<typeof TestCallBody>
export type DashboardReport = Static<typeof Dashboard>
export type DispositionReport = Static<typeof Dispositions>
export type WorkloadReport = Static<typeof Workload>
export type AuditEntry = Static<typeof AuditBody>
export type SecurityEntry = Static<typeof SecurityBody>
export type MaintenanceState = Static<typeof MaintenanceBody>
export type WorkerPools = Static<typeof Pools>
export type OperatorSettings = Static<typeof SettingsBody>
export type OperatedWorkspace = Static<typeof OperatedWorkspaceBody>
export type OperatedUser = Static<typeof OperatedUserBody>
export type AgentTest = Static<typeof TestBody>
export type TestRun = Static<typeof TestRunItem>
export type TestRunDetails = Static<typeof TestRunBody>
export type TestCase = Static<typeof TestCaseBody>
export type JudgeAgreement = Static<typeof JudgeAgreementBody>
export type Webhook = Static<typeof WebhookBody>
export type WebhookWithSecret = Static<typeof WebhookWithSecretBody>
export type Delivery = Static<typeof DeliveryBody>
export type ApiRequest = Static<typeof RequestBody>
export type Role = Workspace['role']

export interface Page<T> {
  items: T[]
  total: number
  page: number
  page_size: number
  total_pages: number
}
