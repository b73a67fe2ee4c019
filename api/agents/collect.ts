import { type Static, Type } from 'typebox'
import { collectTool } from '../../runtime/call/log/collect-output.ts'
import type { AgentSpec } from '../../runtime/call/types/agent-spec.ts'
import { COLLECT_TYPES } from '../../runtime/call/types/collect-item.ts'
import { GROUNDS } from '../../runtime/call/types/guardrails.ts'
import { BUILT_IN_NAMES } from '../../runtime/conversation/built-in-variables.ts'
import { faultOfPattern } from '../../runtime/conversation/guarding/never-said.ts'
import type { Agent } from '../../store/database/schema.ts'
import type { Fault } from '../schema.ts'

/** What an agent collects from callers, and what its answers are checked for. */

const MAX_ITEMS = 32
const DEFAULT_ATTEMPTS = 3

const Item = Type.Object({
  name: Type.String({
    pattern: '^[a-z][a-z0-9_]{0,39}$',
    description:
      'The language model collects it by the tool `collect_{name}`; `{{name}}` is the value in templates of tools afterwards.',
  }),
  type: Type.Enum([...COLLECT_TYPES], {
    description:
      'Values are normalised: `phone` E.164, `date` YYYY-MM-DD and `time` HH:MM in the time zone of the agent, `number` with a decimal point, `email` in small letters.',
  }),
  prompt: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The question. Default: one of the language for the type.',
    }),
  ),
  spell_back: Type.Optional(
    Type.Boolean({
      description:
        'The value is read back and confirmed; the caller may correct a part of it. Default true, of secret values always false.',
    }),
  ),
  secret: Type.Optional(
    Type.Boolean({
      description:
        'The value is only for tools that list it in `secrets`. It is in no log, transcript, recording or trace, and the language model does not get it. Default false.',
    }),
  ),
  attempts: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10,
      default: DEFAULT_ATTEMPTS,
      description: 'Questions until it is given up.',
    }),
  ),
  options: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 2,
      maxItems: 20,
      description: 'Of `choice`.',
    }),
  ),
  length: Type.Optional(Type.Integer({ minimum: 1, maximum: 64, description: 'Of `digits`: how many there are.' })),
  luhn: Type.Optional(Type.Boolean({ description: 'Of `digits`: the last is a check digit, as of card numbers.' })),
})

export const CollectField = Type.Array(Item, {
  maxItems: MAX_ITEMS,
  description: 'Values that callers dictate, spell or key, with patience while they do.',
})

export const GuardrailsField = Type.Object(
  {
    never: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        maxItems: 200,
        description: 'Words and phrases that are never said.',
      }),
    ),
    patterns: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
        maxItems: 50,
        description: 'Regular expressions (RE2) that no sentence may match, in any case of letters.',
      }),
    ),
    grounded: Type.Optional(
      Type.Array(Type.Enum([...GROUNDS]), {
        maxItems: 3,
        description: 'Amounts, dates and links are said only where the prompt, a tool or a document says them.',
      }),
    ),
    max_sentences: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 50, description: 'Of one answer; the rest is left out.' }),
    ),
    language: Type.Optional(
      Type.Boolean({ description: 'Only the language of the conversation is spoken. Default false.' }),
    ),
  },
  {
    additionalProperties: false,
    description:
      'What is checked in answers, sentence by sentence, before it is said or sent. A refused answer is made once more; then a set phrase is said.',
  },
)

type CollectInput = Static<typeof CollectField>
type GuardrailsInput = Static<typeof GuardrailsField>
interface Input {
  collect?: CollectInput | undefined
  guardrails?: GuardrailsInput | undefined
}

/** The columns of the fields that were sent. */
export function collectColumns({ collect, guardrails }: Input) {
  return { collect: collect && JSON.stringify(collect), guardrails: guardrails && JSON.stringify(guardrails) }
}

/** The fields as callers see them. */
export function collectBody(agent: Pick<Agent, 'collect' | 'guardrails'>) {
  return { collect: agent.collect as CollectInput, guardrails: agent.guardrails as GuardrailsInput }
}

/** What is wrong with the fields beside their shape. `tools`: the names of the agent's. */
export function collectFaults({ collect = [], guardrails = {} }: Input, tools: readonly string[]): Fault[] {
  const names = new Set<string>()
  const faults = collect.flatMap((item, i): Fault[] => {
    const { name, type, options, length, luhn, secret = false, spell_back } = item
    const found: Fault[] = []
    const fault = (field: string, msg: string, kind: Fault['type'] = 'value_error'): void => {
      found.push({ loc: ['body', 'collect', String(i), field], msg, type: kind })
    }
    if (names.has(name)) fault('name', 'is used by another item')
    names.add(name)
    if (BUILT_IN_NAMES.has(name)) fault('name', 'is a built-in variable')
    if (tools.includes(collectTool(name)))
      fault('name', `gives the tool "${collectTool(name)}", which the agent has already`)
    if (type === 'choice' && options === undefined) fault('options', 'Field required', 'missing')
    if (type !== 'choice' && options !== undefined) fault('options', 'is for the type "choice"')
    if (type !== 'digits' && length !== undefined) fault('length', 'is for the type "digits"')
    if (type !== 'digits' && luhn !== undefined) fault('luhn', 'is for the type "digits"')
    if (secret && spell_back === true) fault('spell_back', 'must be false: a secret value is not read back')
    return found
  })
  const patterns = (guardrails.patterns ?? []).flatMap((pattern, i): Fault[] => {
    const msg = faultOfPattern(pattern)
    return msg === undefined ? [] : [{ loc: ['body', 'guardrails', 'patterns', String(i)], msg, type: 'value_error' }]
  })
  return [...faults, ...patterns]
}

/** As a conversation needs them. */
export function collectSpec(agent: Pick<Agent, 'collect' | 'guardrails'>): Pick<AgentSpec, 'collect' | 'guardrails'> {
  const { collect, guardrails } = collectBody(agent)
  const { max_sentences: maxSentences, ...rules } = guardrails
  return {
    ...(collect.length === 0
      ? {}
      : {
          collect: collect.map(({ spell_back = true, secret = false, attempts = DEFAULT_ATTEMPTS, ...item }) => ({
            ...item,
            secret,
            attempts,
            spellBack: spell_back && !secret,
          })),
        }),
    ...(Object.keys(guardrails).length === 0
      ? {}
      : { guardrails: { ...rules, ...(maxSentences === undefined ? {} : { maxSentences }) } }),
  }
}
