import { signalWithin } from '../lib/async/signal-within.ts'
import { cleanText, shortText } from '../lib/text.ts'
import type { NetRule } from '../plugin/grants/net-rule.ts'
import { argumentNames } from './argument-names.ts'
import type { Reached } from './http-request.ts'
import { sendTraced, type Traced } from './send-traced.ts'
import { FillBudget, fillHeader, fillJson, fillUrl, UnfitArgument, type Values } from './template.ts'
import type { HttpRequest } from './tool.ts'
import { toolOutput } from './tool-output.ts'
import { unreached } from './unreached.ts'

/** What of a failure a language model reads. */
const MAX_ERROR_CHARACTERS = 500

/** What a request is filled with. */
interface CallValues {
  /** The model's arguments. */
  input: Values
  /** JSON Schema of them. */
  parameters: Record<string, unknown>
  /** The call's own, which no argument stands in for unless the schema names it. */
  variables: Values
}

/** What came of a call: for the model; where it failed, for the agent's maker; and what the operator alone may know of it. */
export interface ToolResult {
  output: string
  fault?: string
  reason?: string
}

/**
 * Calls an HTTP tool. Never throws but for `signal`: errors are reported to the model and to the operator. The key goes
 * along as `Idempotency-Key`, unless the tool has a header of that name.
 */
export async function callHttp(
  http: HttpRequest,
  values: CallValues,
  options: {
    allowed: readonly NetRule[]
    signal: AbortSignal
    idempotencyKey?: string | undefined
    traced?: Traced | undefined
  },
): Promise<ToolResult> {
  const signal = signalWithin(http.timeoutMs, options.signal)
  try {
    const request = outgoing(http, values, options.idempotencyKey)
    const reached = await sendTraced(request, { over: { allowed: options.allowed }, signal }, options.traced)
    return resultOf(reached)
  } catch (error) {
    options.signal.throwIfAborted()
    if (error instanceof UnfitArgument) return { output: `Wrong arguments: ${error.message}` }
    if (signal.aborted) {
      const fault = `no answer within ${http.timeoutMs} ms`
      return { output: `The request failed: ${fault}`, fault }
    }
    return { output: 'The request failed: the server could not be reached', ...unreached(error) }
  }
}

function outgoing({ method, url, headers, body }: HttpRequest, values: CallValues, idempotencyKey: string | undefined) {
  const { input, parameters, variables } = values
  const names = argumentNames(parameters)
  const all = { ...variables, ...Object.fromEntries(Object.entries(input).filter(([name]) => names.has(name))) }
  const budget = new FillBudget()
  const filled = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), fillHeader(value, all, budget)])
  const hasBody = method !== 'GET' && (body !== undefined || method !== 'DELETE')
  const content = hasBody ? JSON.stringify(body === undefined ? input : fillJson(body, all, budget)) : undefined
  return {
    method,
    url: fillUrl(url, all, budget),
    headers: {
      accept: 'application/json, text/*;q=0.9',
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...Object.fromEntries(filled),
    },
    ...(content === undefined ? {} : { body: content }),
  }
}

function resultOf({ status, text }: Reached): ToolResult {
  const said = cleanText(text).trim()
  if (status >= 200 && status < 300) return { output: toolOutput(said) || 'Done' }
  const fault = `status ${status}`
  const words = shortText(said, MAX_ERROR_CHARACTERS)
  return { output: `The request failed with ${fault}${words === '' ? '' : `: ${words}`}`, fault }
}
