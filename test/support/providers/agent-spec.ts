import type { AgentSpec } from '../../../runtime/call/types/agent-spec.ts'

/** An agent that says nothing by itself, for what needs one and doesn't care which. */
export const AGENT_SPEC: AgentSpec = {
  agentId: 'a',
  agentName: 'Ada',
  systemPrompt: 'You are a test.',
  firstMessage: '',
  temperature: 0,
  llm: { provider: 'test', model: '' },
  stt: { provider: 'test', model: '' },
  tts: { provider: 'test', voice: '' },
  hasKnowledge: false,
}
