import { type Static, Type } from 'typebox'
import type { Fallbacks as SpecFallbacks } from '../../runtime/call/types/agent-spec.ts'
import { type Catalogue, checkChoice } from '../../runtime/plugin/catalogue.ts'
import type { Fault } from '../schema.ts'

/** Who takes over when an agent's provider fails. */

const MAX_FALLBACKS = 3
const Name = Type.String({ minLength: 1, maxLength: 200 })
const Choice = Type.String({ minLength: 1, maxLength: 4_000 })
const WithModel = Type.Array(Type.Object({ provider: Name, model: Choice }), { maxItems: MAX_FALLBACKS })

export const FallbacksField = Type.Object(
  {
    LLM: Type.Optional(WithModel),
    STT: Type.Optional(WithModel),
    TTS: Type.Optional(Type.Array(Type.Object({ provider: Name, voice: Choice }), { maxItems: MAX_FALLBACKS })),
  },
  { description: 'Providers that take over, in this order, when the first one fails in a call or chat.' },
)
export type FallbacksInput = Static<typeof FallbacksField>

/** A fault for every provider, model or voice the plugins don't offer, and every provider without its key. */
export function fallbackFaults(
  fallbacks: FallbacksInput,
  catalogue: Catalogue,
  missingKey: (provider: string, kind: 'llm' | 'stt' | 'tts') => string | undefined,
): Fault[] {
  return (['LLM', 'STT', 'TTS'] as const).flatMap((kind) =>
    (fallbacks[kind] ?? []).flatMap((choice, i): Fault[] => {
      const at = ['body', 'fallbacks', kind, String(i)]
      const unavailable = checkChoice(catalogue, kind.toLowerCase() as Lowercase<typeof kind>, choice)
      if (unavailable?.ended !== undefined) {
        return [{ loc: [...at, unavailable.field], msg: unavailable.ended, type: 'value_error' }]
      }
      if (unavailable !== undefined) {
        const listed = unavailable.available.slice(0, 50).map((name) => JSON.stringify(name))
        return [{ loc: [...at, unavailable.field], msg: `must be one of ${listed.join(', ')}`, type: 'enum' }]
      }
      const msg = missingKey(choice.provider, kind.toLowerCase() as Lowercase<typeof kind>)
      return msg === undefined ? [] : [{ loc: [...at, 'provider'], msg, type: 'value_error' }]
    }),
  )
}

/** As a conversation needs them. */
export function fallbacksSpec({ LLM = [], STT = [], TTS = [] }: FallbacksInput): SpecFallbacks {
  return { llm: LLM, stt: STT, tts: TTS }
}
