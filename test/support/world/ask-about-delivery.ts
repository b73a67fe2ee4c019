import { dialAgent, finishedLog } from '../../../scripts/demo/call.ts'
import { Conversation } from '../../../scripts/demo/conversation.ts'
import type { RestClient } from '../../../scripts/demo/rest.ts'
import type { Teardown } from '../instance/services.ts'

/** A caller asks the demo's agent aloud what delivery costs, hears the answer and hangs up: the id of the finished call. */
export async function askAboutDelivery(
  t: Teardown,
  rest: RestClient,
  agentId: string,
  limitMs: number,
): Promise<string> {
  const signal = AbortSignal.timeout(limitMs)
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const conversation = new Conversation(caller, () => {}, signal)
  await conversation.greeting()
  await conversation.ask({ text: 'How much does delivery cost?', expects: 'three euros' })
  await conversation.agentDone()
  await caller.hangUp(signal)
  await finishedLog(rest, callLogId, signal)
  return callLogId
}
