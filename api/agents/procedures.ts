import { type Static, Type } from 'typebox'
import type { ToolSpec } from '../../runtime/call/types/agent-spec.ts'
import { BEGIN_PROCEDURE, type FixedStep, type Procedure } from '../../runtime/call/types/procedure.ts'
import type { Fault } from '../schema.ts'

/** Instructions of an agent for single matters: their shape, their faults, and how a conversation knows them. */

const MAX_BYTES = 65_536

const Sentence = Type.String({ minLength: 1, maxLength: 1_000 })

const Procedures = Type.Array(
  Type.Object({
    name: Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$' }),
    when: Type.String({ minLength: 1, maxLength: 500, description: 'When it fits, for the language model.' }),
    text: Type.String({
      maxLength: 20_000,
      description: 'Read by the model once it has begun the procedure, and not before; `{{name}}` is filled in.',
    }),
    tools: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: 64,
        description: 'Tools of the agent that the model has only once the procedure has begun.',
      }),
    ),
    fixed: Type.Optional(
      Type.Array(
        Type.Object(
          {
            say: Type.Optional(Sentence),
            ask: Type.Optional(Sentence),
            collect: Type.Optional(Type.String({ maxLength: 40 })),
            tool: Type.Optional(Type.String({ maxLength: 64 })),
            arguments: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
          },
          { additionalProperties: false },
        ),
        {
          maxItems: 20,
          description:
            'Steps that are made first, in order and without the model: `say` a sentence to its end, `ask` one and await the answer, `collect` a value of the agent’s `collect`, or call a `tool` of the agent with `arguments`.',
        },
      ),
    ),
  }),
  { maxItems: 32, description: 'Instructions for single matters, which the language model loads when they fit.' },
)
export const ProceduresField = Procedures
type ProceduresInput = Static<typeof Procedures>

/**
 * What is wrong with the procedures beside their shape. `tools`: the names of the agent's tools; undefined: not known. `items`: of what it
 * collects.
 */
export function procedureFaults(
  procedures: ProceduresInput | undefined,
  tools: ReadonlySet<string> | undefined,
  items: ReadonlySet<string>,
): Fault[] {
  if (procedures === undefined) return []
  const faults: Fault[] = []
  const fault = (field: (string | number)[], msg: string): void => {
    faults.push({ loc: ['body', 'procedures', ...field.map(String)], msg, type: 'value_error' })
  }
  if (Buffer.byteLength(JSON.stringify(procedures)) > MAX_BYTES) fault([], 'must have at most 64 KiB in all')
  const names = new Set<string>()
  for (const [i, { name, tools: own = [], fixed = [] }] of procedures.entries()) {
    if (names.has(name)) fault([i, 'name'], 'is used by another procedure of the agent')
    names.add(name)
    for (const [j, tool] of own.entries()) {
      if (tools?.has(tool) === false) fault([i, 'tools', j], 'is no tool of the agent')
    }
    for (const [j, step] of fixed.entries()) {
      const kinds = [step.say, step.ask, step.collect, step.tool].filter((one) => one !== undefined)
      if (kinds.length !== 1) fault([i, 'fixed', j], 'must have one of say, ask, collect and tool')
      else if (step.tool !== undefined && tools?.has(step.tool) === false)
        fault([i, 'fixed', j, 'tool'], 'is no tool of the agent')
      else if (step.collect !== undefined && !items.has(step.collect))
        fault([i, 'fixed', j, 'collect'], 'is no value that the agent collects')
    }
  }
  return faults
}

/** The procedures as a conversation follows them, and the tool by which its model begins one. `fill` fills their texts. */
export function proceduresSpec(
  stored: readonly unknown[],
  fill: (text: string) => string,
): { procedures: Procedure[]; tool: ToolSpec } | undefined {
  const procedures = (stored as ProceduresInput).map(
    ({ name, when, text, tools = [], fixed = [] }): Procedure => ({
      ...{ name, when, text: fill(text), tools },
      fixed: fixed.map(({ say, ask, collect, tool = '', arguments: given = {} }): FixedStep => {
        if (collect !== undefined) return { collect }
        if (say !== undefined) return { say: fill(say) }
        return ask === undefined ? { tool, arguments: given } : { ask: fill(ask) }
      }),
    }),
  )
  if (procedures.length === 0) return undefined
  const listed = procedures.map(({ name, when }) => `${name}: ${when}`).join('\n')
  return {
    procedures,
    tool: {
      name: BEGIN_PROCEDURE,
      description: `Begins a procedure: its instructions come back, and hold from then on. Begin the one that fits, once.\n${listed}`,
      parameters: {
        type: 'object',
        properties: { name: { type: 'string', enum: procedures.map(({ name }) => name) } },
        required: ['name'],
      },
      kind: 'procedure',
    },
  }
}
