import { type Static, Type } from 'typebox'
import { VOICEMAIL_BEHAVIOURS } from '../../runtime/plugin-sdk/telephony/answerer.ts'
import type { AgentChanges, AgentDetails } from '../../store/agents/agents.ts'
import { Id, Instant, NameInput, Nullable } from '../schema.ts'
import { AnalysisField, type AnalysisInput } from './analysis.ts'
import { CollectField, collectBody, collectColumns, GuardrailsField } from './collect.ts'
import { FallbacksField, type FallbacksInput } from './fallbacks.ts'
import { ProceduresField } from './procedures.ts'
import { PublicAccessBody, PublicAccessInput, publicAccessBody, publicAccessColumn } from './public-access.ts'
import { speechBody, speechColumns, speechFields, speechWarnings } from './speech.ts'
import { Tools, toolsBody } from './tools.ts'
import { variableWarnings } from './variable-warnings.ts'

const Name = Type.String({ minLength: 1, maxLength: 200 })
/** A model or voice may be a whole scenario of the sim plugin, written as JSON. */
const Choice = Type.String({ minLength: 1, maxLength: 4_000 })

const fields = {
  agent_name: NameInput,
  LLM_provider: Name,
  LLM_model: Choice,
  temperature: Type.Number({ minimum: 0, maximum: 2 }),
  system_prompt: Type.String({ minLength: 1, maxLength: 200_000 }),
  first_message: Type.String({ maxLength: 10_000, description: 'Empty: the agent waits for the caller to speak.' }),
  STT_provider: Name,
  STT_model: Choice,
  TTS_provider: Name,
  TTS_voice: Choice,
  tools: Tools,
  fallbacks: FallbacksField,
  procedures: ProceduresField,
  voicemail: Type.Enum(VOICEMAIL_BEHAVIOURS, {
    description:
      'What the agent does when an answering machine picks up its call: hang up, leave a message after the beep, or go on as with a human. Assistants that ask who is calling are answered in any case.',
  }),
  voicemail_message: Type.String({
    maxLength: 10_000,
    description: 'Left after the beep; `{{name}}` is filled in. Empty: the first message.',
  }),
  recording_notice: Type.String({
    maxLength: 10_000,
    description: 'Said before everything else, and to its end, such as that the call is recorded. Empty: nothing.',
  }),
  recording: Type.Enum(['default', 'on', 'off'], {
    description:
      'Whether its calls are recorded: as `PATCHBAY_RECORD_CALLS` says (`default`), always (`on`), or never (`off`), even where a session asks for it.',
  }),
  consent_message: Type.String({
    maxLength: 10_000,
    description:
      'Asks the caller whether the call may be recorded. Nothing is recorded before a yes, spoken or key 1. Empty: nobody is asked.',
  }),
}

const Publishing = Type.Enum(['immediate', 'manual'], {
  description:
    '`immediate`: a change is live for the next call. `manual`: calls go on with the live version until the draft is published.',
})

export const CreateAgentInput = Type.Object({
  agent_name: fields.agent_name,
  LLM_provider: Type.Optional(fields.LLM_provider),
  LLM_model: Type.Optional(fields.LLM_model),
  temperature: Type.Optional(fields.temperature),
  system_prompt: fields.system_prompt,
  first_message: Type.Optional(fields.first_message),
  STT_provider: Type.Optional(fields.STT_provider),
  STT_model: Type.Optional(fields.STT_model),
  TTS_provider: Type.Optional(fields.TTS_provider),
  TTS_voice: Type.Optional(fields.TTS_voice),
  tools: Type.Optional(fields.tools),
  fallbacks: Type.Optional(fields.fallbacks),
  procedures: Type.Optional(fields.procedures),
  voicemail: Type.Optional(fields.voicemail),
  voicemail_message: Type.Optional(fields.voicemail_message),
  recording_notice: Type.Optional(fields.recording_notice),
  consent_message: Type.Optional(fields.consent_message),
  recording: Type.Optional(fields.recording),
  public: Type.Optional(Nullable(PublicAccessInput)),
  analysis: Type.Optional(AnalysisField),
  collect: Type.Optional(CollectField),
  guardrails: Type.Optional(GuardrailsField),
  publishing: Type.Optional(Publishing),
  ...Type.Partial(Type.Object(speechFields)).properties,
})

export const UpdateAgentInput = Type.Partial(CreateAgentInput)
export type AgentInput = Static<typeof UpdateAgentInput>

export const AgentBody = Type.Object({
  agent_id: Id,
  workspace_id: Id,
  agent_name: Type.String(),
  LLM_provider: Type.String(),
  LLM_model: Type.String(),
  temperature: Type.Number(),
  system_prompt: Type.String(),
  first_message: Type.String(),
  STT_provider: Type.String(),
  STT_model: Type.String(),
  TTS_provider: Type.String(),
  TTS_voice: Type.String(),
  tools: Tools,
  fallbacks: FallbacksField,
  procedures: ProceduresField,
  voicemail: fields.voicemail,
  voicemail_message: Type.String(),
  recording_notice: Type.String(),
  consent_message: Type.String(),
  recording: fields.recording,
  public: Nullable(PublicAccessBody),
  analysis: AnalysisField,
  collect: CollectField,
  guardrails: GuardrailsField,
  publishing: Publishing,
  version: Nullable(Type.Integer({ description: 'The version that is live. What is shown here is the draft.' })),
  unpublished_changes: Type.Boolean({ description: 'The draft is not as the live version.' }),
  ...speechFields,
  warnings: Type.Array(Type.String(), { description: 'What the agent lacks, and what follows from it.' }),
  phone_numbers: Type.Array(Type.String(), { description: 'E.164.' }),
  documents: Type.Integer({ description: 'Documents in its knowledge base.' }),
  created_at: Instant,
  updated_at: Instant,
})

export const agentExample = {
  agent_id: '0197f3a2-7c1e-7000-8000-000000000003',
  workspace_id: '0197f3a2-7c1e-7000-8000-000000000002',
  agent_name: 'Reception',
  LLM_provider: 'offline',
  LLM_model: 'extractive',
  temperature: 0.7,
  system_prompt: 'You answer the phone of the Analytical Engines company. We open at nine.',
  first_message: 'Hello, how can I help you?',
  STT_provider: 'sim',
  STT_model: 'default',
  TTS_provider: 'offline',
  TTS_voice: 'en-us',
  tools: [],
  fallbacks: {},
  procedures: [],
  voicemail: 'hang_up' as const,
  voicemail_message: '',
  recording_notice: '',
  consent_message: '',
  recording: 'default' as const,
  public: null,
  analysis: { summary: true },
  collect: [],
  guardrails: {},
  publishing: 'immediate' as const,
  version: 3,
  unpublished_changes: false,
  language: 'en',
  interruption: { enabled: true, sensitivity: 'normal' as const },
  endpointing: 'balanced' as const,
  dead_air: { enabled: true, phrases: [] },
  max_duration_s: null,
  idle_timeout_s: null,
  keyterms: [],
  transcribe: 'own' as const,
  pronunciation: [],
  ai_disclosure: 'auto' as const,
  register: 'formal' as const,
  phrases: {},
  warnings: [],
  timezone: 'Europe/Berlin',
  phone_numbers: ['+14155550123'],
  documents: 0,
  created_at: '2026-01-31T09:00:00.000Z',
  updated_at: '2026-01-31T09:00:00.000Z',
}

/** An agent as callers see it. */
export function agentBody(agent: AgentDetails): Static<typeof AgentBody> {
  return {
    agent_id: agent.id,
    workspace_id: agent.workspace_id,
    agent_name: agent.agent_name,
    LLM_provider: agent.llm_provider,
    LLM_model: agent.llm_model,
    temperature: agent.temperature,
    system_prompt: agent.system_prompt,
    first_message: agent.first_message,
    STT_provider: agent.stt_provider,
    STT_model: agent.stt_model,
    TTS_provider: agent.tts_provider,
    TTS_voice: agent.tts_voice,
    tools: toolsBody(agent.tools),
    fallbacks: agent.fallbacks as FallbacksInput,
    procedures: agent.procedures as Static<typeof ProceduresField>,
    voicemail: agent.voicemail,
    voicemail_message: agent.voicemail_message,
    recording_notice: agent.recording_notice,
    consent_message: agent.consent_message,
    recording: agent.recording,
    public: publicAccessBody(agent.public_access),
    analysis: agent.analysis as AnalysisInput,
    ...collectBody(agent),
    publishing: agent.publishing,
    version: agent.live_version,
    unpublished_changes: agent.unpublished,
    ...speechBody(agent),
    warnings: [...speechWarnings(agent), ...variableWarnings(agent)],
    phone_numbers: agent.phone_numbers,
    documents: agent.documents,
    created_at: agent.created_at.toISOString(),
    updated_at: agent.updated_at.toISOString(),
  }
}

/** The columns of the fields that were sent, but for the tools: see storedTools. */
export function agentColumns(input: AgentInput): AgentChanges {
  const columns: Record<string, unknown> = {
    agent_name: input.agent_name,
    llm_provider: input.LLM_provider,
    llm_model: input.LLM_model,
    temperature: input.temperature,
    system_prompt: input.system_prompt,
    first_message: input.first_message,
    stt_provider: input.STT_provider,
    stt_model: input.STT_model,
    tts_provider: input.TTS_provider,
    tts_voice: input.TTS_voice,
    fallbacks: input.fallbacks && JSON.stringify(input.fallbacks),
    procedures: input.procedures && JSON.stringify(input.procedures),
    analysis: input.analysis && JSON.stringify(input.analysis),
    voicemail: input.voicemail,
    voicemail_message: input.voicemail_message,
    recording_notice: input.recording_notice,
    consent_message: input.consent_message,
    recording: input.recording,
    public_access: publicAccessColumn(input.public),
    publishing: input.publishing,
    ...collectColumns(input),
    ...speechColumns(input),
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}
