import type { TransferOrder } from '../../runtime/call/control/transfer.ts'
import type { AgentSpec } from '../../runtime/call/types/agent-spec.ts'
import { languageOf } from '../../runtime/conversation/languages/index.ts'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { cutText } from '../../runtime/lib/text.ts'
import type { Carrier, DialOrder } from '../../runtime/plugin-sdk/telephony/carrier.ts'
import type { ToolsOfCall } from '../../store/agents/agent-tools.ts'
import { served } from '../../store/agents/served-agents.ts'
import type { Store } from '../../store/database/database.ts'
import { agentSpec } from '../realtime/agent-spec.ts'

/** Of what the model says about the caller. */
const MAX_SUMMARY_CHARS = 4_000
const RING_TIMEOUT_MS = 30_000
const DIAL_TIMEOUT_MS = 10_000
const HANGUP_TIMEOUT_MS = 5_000

/** How the one a caller is led to is called: as our number, over its trunk, in the name of the caller. */
export function secondLeg(
  carrier: Carrier,
  callId: string,
  {
    workspaceId,
    trunk,
    from,
    to,
    theirs,
    toExtension = false,
  }: Pick<ToolsOfCall, 'workspaceId' | 'trunk' | 'theirs'> & Pick<DialOrder, 'from' | 'to' | 'toExtension'>,
): Pick<TransferOrder, 'dial' | 'hangUp'> {
  const secondId = `${callId}.2`
  const order = {
    callId: secondId,
    workspaceId,
    ...{ from, to, toExtension, ringTimeoutMs: RING_TIMEOUT_MS },
    ...(trunk === null ? {} : { trunk }),
    ...(theirs === null ? {} : { onBehalfOf: theirs }),
  }
  return {
    dial: (events) => carrier.dial(order, events, signalWithin(DIAL_TIMEOUT_MS)),
    hangUp: () =>
      inBackground(
        'tool',
        carrier.hangup(secondId, signalWithin(HANGUP_TIMEOUT_MS)).catch(() => undefined),
      ),
  }
}

/** The agent as it speaks to that human: it says who calls and why, asks whether they take the call, and nothing else. */
export async function whisperTo(
  { store, clock }: { store: Store; clock: Clock },
  { workspaceId, agentId, agentVersion, dynamicVariables }: Omit<ToolsOfCall, 'tools' | 'provider'>,
  summary: string,
  /** Of that human and of ours: their countries decide whether the agent says that it is an AI. */
  numbers: readonly string[],
): Promise<AgentSpec | undefined> {
  const found = await served(store, workspaceId, agentId, { use: agentVersion ?? 'live' })
  if (found === undefined || 'refused' in found) return undefined
  const spec = agentSpec(found.agent, dynamicVariables, false, { nowMs: clock.nowMs(), numbers })
  const { voicemail: _voicemail, aiDisclosure, ...kept } = spec
  const { takeCall, disclosure } = languageOf(spec.language, spec).phrases
  return {
    ...kept,
    firstMessage: '',
    tools: [],
    // The recording goes on: the person who takes the call hears its notice, too.
    consentMessage: [aiDisclosure === undefined ? '' : disclosure, cutText(summary.trim(), MAX_SUMMARY_CHARS), takeCall]
      .filter((text) => text !== '')
      .join(' '),
  }
}
