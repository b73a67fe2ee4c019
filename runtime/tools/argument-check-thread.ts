import { parentPort } from 'node:worker_threads'
import JsonSchema from 'typebox/schema'
import { noteThreadId } from '../process/offload/thread-id.ts'
import { lower } from '../process/priority.ts'

/** The thread of argument-check.ts: one check after the other. The parent ends it when one takes too long. */

export interface CheckRequest {
  /** JSON text of the schema, and of the input; without input the schema itself is looked at. */
  schema: string
  input: string | undefined
}

/** First of all that it is ready. */
export type CheckAnswer = { ready: true } | { fault: string | undefined }

const MAX_KEPT = 200

type Validator = ReturnType<typeof JsonSchema.Compile>
/** The latest used last. */
const compiled = new Map<string, Validator>()

function validatorOf(schema: string): Validator {
  const validator = compiled.get(schema) ?? JsonSchema.Compile(JSON.parse(schema))
  compiled.delete(schema)
  compiled.set(schema, validator)
  const [oldest] = compiled.keys()
  if (compiled.size > MAX_KEPT) compiled.delete(oldest!)
  return validator
}

function faultOf({ schema, input }: CheckRequest): string | undefined {
  let validator: Validator
  try {
    validator = validatorOf(schema)
    if (input === undefined) validator.Check({})
  } catch {
    return 'is no JSON Schema'
  }
  if (input === undefined) return undefined
  const value: unknown = JSON.parse(input)
  if (validator.Check(value)) return undefined
  const [, [first]] = validator.Errors(value)
  return `${first?.instancePath ?? ''} ${first?.message ?? 'they do not fit the schema'}`.trim()
}

lower(noteThreadId())
const port = parentPort!
port.on('message', (request: CheckRequest) => {
  let fault: string | undefined
  try {
    fault = faultOf(request)
  } catch {
    fault = 'they could not be checked'
  }
  port.postMessage({ fault } satisfies CheckAnswer)
})
port.postMessage({ ready: true } satisfies CheckAnswer)
