import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { MAX_EXTERNAL_ID_CHARS, MetadataMap } from '../../runtime/call/types/metadata.ts'
import { DynamicVariables } from '../../runtime/conversation/variables.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { type DataKeys, UnopenedSecret } from '../../runtime/lib/secret-box.ts'
import { parseCleanJson } from '../../runtime/lib/text.ts'
import type { NetRule } from '../../runtime/plugin/grants/net-rule.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { ForbiddenAddress } from '../../runtime/tools/connections.ts'
import { sendTraced } from '../../runtime/tools/send-traced.ts'
import type { HttpSpans } from '../../runtime/traces/http-spans.ts'
import { contextOfCall } from '../../runtime/traces/trace-context.ts'
import { signedHeaders, webhookSecrets } from '../../runtime/webhooks/signature.ts'

/** Asks the workspace of a dialled number who is to answer, before anybody does; never without a signature. */

/** The caller hears it ring meanwhile. */
const TIMEOUT_MS = 2_000

const ANSWER = Type.Object({
  agent_id: Type.Optional(Type.String()),
  dynamic_variables: Type.Optional(DynamicVariables({})),
  external_id: Type.Optional(Type.String({ maxLength: MAX_EXTERNAL_ID_CHARS })),
  metadata: Type.Optional(MetadataMap()),
  reject: Type.Optional(Type.Boolean()),
})
const check = Compile(ANSWER)

export interface InboundQuestion {
  url: string
  /** Sealed under the number. */
  secret: string | null
  callId: string
  workspaceId: string
  from: string | null
  to: string
  provider: string
  agentId: string | null
}

/** What it said; a `fault` where it said nothing that could be used: the number's own agent answers then. */
type InboundAnswer = { says: Static<typeof ANSWER> } | { fault: string }

export async function askInboundWebhook(
  question: InboundQuestion,
  options: {
    allowed: readonly NetRule[]
    keys: DataKeys
    /** Where requests become spans; undefined: nowhere. */
    requests?: HttpSpans | undefined
    clock: Clock
    log: Logger
    signal: AbortSignal
  },
): Promise<InboundAnswer> {
  const { url, secret, callId, to } = question
  const nowMs = options.clock.nowMs()
  const body = JSON.stringify({
    type: 'call.inbound',
    call_log_id: callId,
    workspace_id: question.workspaceId,
    from_number: question.from,
    to_number: to,
    provider: question.provider,
    agent_id: question.agentId,
    created_at: new Date(nowMs).toISOString(),
  })
  const opened = secret === null ? undefined : webhookSecrets(options.keys).open(secret, to)
  if (opened === undefined) {
    const { message } = new UnopenedSecret('its secret')
    options.log.error({ callId, number: to, reason: message }, 'An inbound webhook cannot be asked')
    return { fault: message }
  }
  const limit = signalWithin(TIMEOUT_MS, options.signal)
  try {
    const { status, text } = await sendTraced(
      {
        method: 'POST',
        url,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'user-agent': 'Patchbay-Webhooks',
          ...signedHeaders([opened], { id: callId, timestampS: Math.floor(nowMs / 1_000), body }),
        },
        body,
      },
      { over: { allowed: options.allowed }, redirects: 0, signal: limit },
      options.requests && { requests: options.requests, within: contextOfCall(callId) },
    )
    if (status === 204) return { says: {} }
    if (status !== 200) return { fault: `it answered status ${status}` }
    const says = parseCleanJson(text)
    return check.Check(says)
      ? { says }
      : {
          fault:
            'its answer is not {"agent_id"?: text, "dynamic_variables"?: at most 200 texts and 64 KiB, "external_id"?: text, "metadata"?: at most 16 texts, "reject"?: boolean}',
        }
  } catch (error) {
    options.signal.throwIfAborted()
    if (limit.aborted) return { fault: `no answer within ${TIMEOUT_MS} ms` }
    if (error instanceof SyntaxError) return { fault: 'its answer is no JSON' }
    if (error instanceof ForbiddenAddress) return { fault: 'its address may not be reached' }
    const { message, code } = error as NodeJS.ErrnoException
    return { fault: `it could not be reached (${code ?? message})` }
  }
}
