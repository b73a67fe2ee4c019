import JsonSchema from 'typebox/schema'
import { serve } from '../process/offload/task.ts'

/** Entry of the thread of argument-check.ts: one check after the other. */

export interface CheckRequest {
  /** JSON text of the schema, and of the input; without input the schema itself is looked at. */
  schema: string
  input: string | undefined
}

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

serve((request: CheckRequest): string | undefined => {
  try {
    return faultOf(request)
  } catch {
    return 'they could not be checked'
  }
})
