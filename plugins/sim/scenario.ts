import { type Static, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { PatchbayError } from '../../runtime/lib/errors.ts'

const Milliseconds = Type.Number({ minimum: 0, maximum: 600_000 })

/** What goes wrong, and when. */
const FaultSchema = Type.Object(
  {
    /** `error`: the provider answers 500; `rate_limit`: 429; `disconnect`: the connection breaks; `hang`: nothing more comes. */
    kind: Type.Enum(['error', 'rate_limit', 'disconnect', 'hang']),
    /** How much is delivered first: tokens (llm), milliseconds of audio (tts, stt). */
    after: Type.Optional(Type.Number({ minimum: 0 })),
    /** The request it strikes, counted from 1; every one when absent. */
    request: Type.Optional(Type.Integer({ minimum: 1 })),
    /** How many times it strikes; then the provider has recovered. */
    times: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
)
export type FaultPlan = Static<typeof FaultSchema>

const LlmSchema = Type.Object(
  {
    firstTokenMs: Type.Optional(Milliseconds),
    /** 0: all at once. */
    tokensPerSecond: Type.Optional(Type.Number({ minimum: 0 })),
    /** The answer to a question; compared by its words alone. */
    script: Type.Optional(
      Type.Array(
        Type.Object(
          {
            question: Type.String(),
            answer: Type.String(),
            /** Called first; `{output}` in the answer stands for what came of it. */
            tool: Type.Optional(
              Type.Object(
                { name: Type.String(), arguments: Type.Record(Type.String(), Type.Unknown()) },
                { additionalProperties: false },
              ),
            ),
          },
          { additionalProperties: false },
        ),
        { maxItems: 1000 },
      ),
    ),
    /** The answer to any other question; `{question}` stands for what was asked. */
    otherwise: Type.Optional(Type.String()),
    fault: Type.Optional(FaultSchema),
  },
  { additionalProperties: false },
)
export type LlmScenario = Static<typeof LlmSchema>

const TtsSchema = Type.Object(
  {
    /** `tone`: a beep as long as the text would take, which costs nothing; otherwise a voice of espeak-ng. */
    voice: Type.Optional(Type.String()),
    firstByteMs: Type.Optional(Milliseconds),
    /** Audio is made this many times faster than it is heard; 0: at once. */
    speed: Type.Optional(Type.Number({ minimum: 0 })),
    /** How long the pieces are that the beep comes in; 20 where it is not said. */
    pieceMs: Type.Optional(Type.Integer({ minimum: 20, maximum: 1_000 })),
    fault: Type.Optional(FaultSchema),
  },
  { additionalProperties: false },
)
export type TtsScenario = Static<typeof TtsSchema>

const SttSchema = Type.Object(
  {
    /** Utterances understood besides the built-in ones. */
    utterances: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 300 }), { maxItems: 500 })),
    /** Voices of espeak-ng that are understood. */
    voices: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 8 })),
    /** Silence after which an utterance is over. */
    endSilenceMs: Type.Optional(Type.Number({ minimum: 20, maximum: 5_000 })),
    /** What a result takes on its way. */
    latencyMs: Type.Optional(Milliseconds),
    fault: Type.Optional(FaultSchema),
  },
  { additionalProperties: false },
)
export type SttScenario = Static<typeof SttSchema>

/** Reads the scenario an agent's model or voice names: see `scenarioReader`. */
export const readLlmScenario = scenarioReader('llm', LlmSchema)
export const readTtsScenario = scenarioReader('tts', TtsSchema)
export const readSttScenario = scenarioReader('stt', SttSchema)

/**
 * A scenario is `default`, the name of one in the operator's option `scenarios.<kind>`, or itself, as JSON.
 * @throws PatchbayError `plugin` that says what is wrong with it
 */
function scenarioReader<S extends TSchema>(kind: 'stt' | 'llm' | 'tts', schema: S) {
  let compiled: ReturnType<typeof Compile<S>> | undefined
  return (name: string | undefined, settings: Readonly<Record<string, unknown>>): Static<S> => {
    compiled ??= Compile(schema)
    const found = find(kind, name, settings)
    if (compiled.Check(found)) return found
    const [fault] = compiled.Errors(found)
    const where = fault ? `${fault.instancePath || 'it'} ${fault.message}` : 'it does not fit'
    throw invalid(kind, name, where)
  }
}

function find(kind: string, name: string | undefined, settings: Readonly<Record<string, unknown>>): unknown {
  if (name?.trimStart().startsWith('{')) {
    try {
      return JSON.parse(name)
    } catch (error) {
      throw invalid(kind, name, error instanceof Error ? error.message : String(error))
    }
  }
  const scenarios = property(property(settings, 'scenarios'), kind)
  if (name && Object.hasOwn(Object(scenarios), name)) return property(scenarios, name)
  if (!name || name === DEFAULT_SCENARIO) return {}
  const known = [DEFAULT_SCENARIO, ...Object.keys(Object(scenarios))].join(', ')
  throw invalid(kind, name, `no such scenario; there are ${known}, or write one as JSON`)
}

/** The name of the scenario without any delay, fault or script. */
const DEFAULT_SCENARIO = 'default'

function property(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
}

function invalid(kind: string, name: string | undefined, why: string): PatchbayError {
  return new PatchbayError('plugin', { params: { reason: `sim ${kind} scenario "${name ?? ''}": ${why}` } })
}
