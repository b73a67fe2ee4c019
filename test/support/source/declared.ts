import type { Validator } from 'typebox/compile'
import { Compile } from 'typebox/compile'
import { createRouter } from '../../../api/http/router.ts'
import { hasTag } from '../../../api/http/while-matching.ts'
import { errorCodes, takesInput } from '../../../api/openapi/openapi.ts'
import type { AnyRoute } from '../../../api/route.ts'
import { routes } from '../../../api/routes.ts'
import { ERRORS, type ErrorCode } from '../../../runtime/lib/errors.ts'

/** Compares answers with what the routes, and so the OpenAPI document, declare. */

interface Declared {
  /** Made when the route is first asked: a test asks few of them. */
  schema(): Validator
  /** Sentences of the errors by status. */
  details: Map<number, Set<string>>
}

const router = createRouter(routes.map((route) => ({ route, compiled: declare(route) })))

function declare(route: AnyRoute): Declared {
  const details = new Map<number, Set<string>>()
  for (const code of errorCodes(route)) {
    const { status, detail } = ERRORS[code]
    details.set(status, (details.get(status) ?? new Set()).add(detail))
  }
  let schema: Validator | undefined
  return {
    schema() {
      schema ??= Compile(route.success.schema) as unknown as Validator
      return schema
    },
    details,
  }
}

/** What is wrong with the answer to a request, or undefined. An unknown path or method declares nothing. */
export function undeclared(method: string, path: string, status: number, body: unknown): string | undefined {
  const match = router.match(method, path)
  if (match === undefined || 'allow' in match) return undefined
  const { route, compiled } = match.entry
  const name = `${method} ${route.path} → ${status}`
  if (status === 304 && hasTag(route)) return body === undefined ? undefined : `${name} has a body`
  if (status === route.success.status || status === route.success.orStatus) {
    const isJson = (route.success.contentType ?? 'application/json') === 'application/json'
    if (body === undefined && route.success.events) return undefined
    if (!isJson || method === 'HEAD' || compiled.schema().Check(body)) return undefined
    return `${name} breaks its schema: ${JSON.stringify(compiled.schema().Errors(body).slice(0, 3))}`
  }
  const { detail, code, request_id, params } = (body ?? {}) as Record<string, unknown>
  if (!Object.hasOwn(ERRORS, String(code)) || typeof request_id !== 'string' || typeof params !== 'object') {
    return `${name} lacks code, request_id or params: ${JSON.stringify(body)}`
  }
  if (ERRORS[code as ErrorCode].status !== status) return `${name} has the code ${String(code)}`
  if (status === 422) {
    return takesInput(route) && Array.isArray(detail) ? undefined : `${name} is not declared`
  }
  const sentences = compiled.details.get(status)
  if (sentences === undefined) return `${name} is not declared`
  const isKnown = typeof detail !== 'string' || [...sentences].some((sentence) => matches(sentence, detail))
  return isKnown ? undefined : `${name} has the undeclared sentence ${JSON.stringify(detail)}`
}

/** `{name}` in a sentence of the table stands for anything; what is unavailable may say why. */
function matches(sentence: string, detail: string): boolean {
  if (sentence === ERRORS.unavailable.detail && detail.startsWith(`${sentence}: `)) return true
  const parts = sentence.split(/\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(detail)
}
