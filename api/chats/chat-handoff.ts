import { handoffNote } from '../../runtime/call/log/note.ts'
import { MAX_HANDOFFS } from '../../runtime/call/types/hand-off.ts'
import type { ToolResult } from '../../runtime/tools/call-http.ts'
import type { HandoffTool, Tool } from '../../runtime/tools/tool.ts'
import type { ServedAgent } from '../../store/agents/served-agents.ts'
import { served } from '../../store/agents/served-agents.ts'
import type { Store } from '../../store/database/database.ts'
import type { Chat, ChatState } from '../../store/database/schema.ts'
import { wordsOf } from '../tools/handoff-target.ts'
import type { ToolCalls } from '../tools/tool-calls.ts'

/** The agent that has a chat, and what of it that agent knows. */
export interface PresentAgent {
  agent: ServedAgent
  state: ChatState
}

/** The agent that a chat was handed to, where it can still be served; else the one that was asked. */
export async function presentAgent(
  store: Store,
  workspaceId: string,
  asked: ServedAgent,
  chat: Chat | undefined,
): Promise<PresentAgent> {
  const id = chat?.present_agent_id
  if (id == null || id === asked.id) {
    const procedures = chat?.state.procedures
    return { agent: asked, state: procedures === undefined ? {} : { procedures } }
  }
  const found = await served(store, workspaceId, id, { use: 'live' })
  if (found === undefined || 'refused' in found) return { agent: asked, state: {} }
  return { agent: found.agent, state: chat?.state ?? {} }
}

interface HandedChat {
  workspaceId: string
  sessionId: string
  dynamicVariables: Readonly<Record<string, string>>
}

/** The hand-offs that one message of a chat leads to. */
export class ChatHandoffs {
  readonly #tools: Pick<ToolCalls, 'handOffChat'>
  readonly #chat: HandedChat
  /** Agents that had the chat since the person wrote. */
  readonly #had: string[] = []
  #next: { agent: ServedAgent; tool: HandoffTool; input: Record<string, unknown> } | undefined

  constructor(tools: Pick<ToolCalls, 'handOffChat'>, chat: HandedChat) {
    this.#tools = tools
    this.#chat = chat
  }

  /** The chat goes to another agent once the present one has said all. */
  get isMade(): boolean {
    return this.#next !== undefined
  }

  /** What the model reads of its hand-off; undefined: the agent has no such tool. */
  async call(
    agent: ServedAgent,
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const tools = agent.tools as unknown as readonly Tool[]
    const tool = tools.find((one): one is HandoffTool => one.type === 'handoff' && one.name === name)
    if (tool === undefined) return undefined
    if (this.#next !== undefined || this.#had.length >= MAX_HANDOFFS) return GO_ON
    const { workspaceId, sessionId, dynamicVariables } = this.#chat
    const facts = { workspaceId, agentId: agent.id, of: { chat_session_id: sessionId }, dynamicVariables }
    const found: { agent: ServedAgent } | ToolResult = await this.#tools.handOffChat(tool, input, facts, signal)
    if ('output' in found) return found.output
    if (found.agent.id === agent.id || this.#had.includes(found.agent.id)) return GO_ON
    this.#next = { agent: found.agent, tool, input }
    return 'The next agent has the chat.'
  }

  /** What is said before, where the model said nothing. */
  get says(): string {
    return this.#next?.tool.says ?? ''
  }

  /** The agent that goes on; undefined: the present one keeps the chat. `seq`: of the person's message. */
  take({ agent, state }: PresentAgent, seq: number): PresentAgent | undefined {
    const next = this.#next
    if (next === undefined) return undefined
    this.#next = undefined
    this.#had.push(agent.id)
    const { carries } = next.tool
    const note = handoffNote({
      ...{ type: 'handed_off', from: agent.id, to: next.agent.id },
      ...{ from_name: agent.agent_name, to_name: next.agent.agent_name, carries, ...wordsOf(next.input) },
    })
    const fromSeq = carries === 'all' ? (state.handoff?.fromSeq ?? 0) : seq
    return { agent: next.agent, state: { handoff: { fromSeq, note } } }
  }
}

const GO_ON = 'The chat can’t be handed there now: go on yourself.'
