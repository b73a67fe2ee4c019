import { type Static, Type } from 'typebox'
import type { AgentSpec, SessionLimits } from '../../runtime/call/types/agent-spec.ts'
import { languageOf, speaks } from '../../runtime/conversation/languages/index.ts'
import { OWN_PHRASES, type OwnPhrase } from '../../runtime/conversation/languages/phrases.ts'
import { AI_DISCLOSURES } from '../../runtime/dialing/ai-disclosure.ts'
import { isTimeZone } from '../../runtime/lib/zoned-time.ts'
import { type Catalogue, languagesOf, listedLanguage } from '../../runtime/plugin/catalogue.ts'
import type { Agent } from '../../store/database/schema.ts'
import { type Fault, Nullable } from '../schema.ts'
import type { Choices } from './choices.ts'
import type { FallbacksInput } from './fallbacks.ts'

/** How an agent listens and speaks: the fields, their faults, and the conversation's settings. */

export const DEFAULT_LANGUAGE = 'en'
const MAX_KEYTERMS = 100
const MAX_WORDS = 200
const MAX_PHRASES = 10
const MAX_S = 86_400
const SENSITIVITIES = ['low', 'normal', 'high'] as const
const REGISTERS = ['formal', 'informal'] as const
const MAX_PHRASE_CHARS = 1_000
const TRANSCRIBERS = ['own', 'model'] as const
const ENDPOINTINGS = ['eager', 'balanced', 'patient'] as const

type Snake<S extends string> = S extends `${infer A}${infer B}`
  ? `${A extends Lowercase<A> ? A : `_${Lowercase<A>}`}${Snake<B>}`
  : S
type PhraseField = ReturnType<typeof Type.Optional<ReturnType<typeof Type.String>>>
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export const speechFields = {
  language: Type.String({
    minLength: 2,
    maxLength: 35,
    pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$',
    description:
      'What is spoken with callers: a language tag (BCP 47) such as `de` or `pt-BR`, or `multi`, which follows the caller from language to language where the recogniser can. Given to recogniser, language model and voice.',
    examples: ['en', 'de', 'pt-BR', 'multi'],
  }),
  interruption: Type.Object(
    {
      enabled: Type.Optional(
        Type.Boolean({ description: 'False: the agent says what it has to say to its end. Default true.' }),
      ),
      sensitivity: Type.Optional(
        Type.Enum(SENSITIVITIES, {
          description: 'How little of the caller’s voice makes the agent fall silent. Default normal.',
        }),
      ),
    },
    { description: 'Whether callers may cut the agent off.' },
  ),
  timezone: Type.Refine(
    Type.String({
      maxLength: 64,
      description: 'IANA time zone of `{{now}}`, `{{today}}`, `{{weekday}}` and `{{time}}` in its texts. Empty: UTC.',
      examples: ['Europe/Berlin'],
    }),
    (zone) => zone === '' || isTimeZone(zone),
    () => 'must be an IANA time zone, such as Europe/Berlin',
  ),
  endpointing: Type.Enum(ENDPOINTINGS, {
    description:
      'How soon a pause of the caller counts as the end of their turn: `eager` answers sooner, `patient` lets callers think.',
  }),
  dead_air: Type.Object(
    {
      enabled: Type.Optional(Type.Boolean({ description: 'Default true.' })),
      phrases: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
          maxItems: MAX_PHRASES,
          description: 'Said in turn; empty: those of the language.',
        }),
      ),
    },
    { description: 'What is said while an answer is late.' },
  ),
  max_duration_s: Nullable(
    Type.Integer({ minimum: 10, maximum: MAX_S, description: 'Longest call. Null: the server’s limit.' }),
  ),
  idle_timeout_s: Nullable(
    Type.Integer({
      minimum: 5,
      maximum: 3_600,
      description:
        'A caller who says nothing this long while the agent listens is hung up on. Null: the server’s limit.',
    }),
  ),
  keyterms: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: MAX_KEYTERMS,
    description: 'Names and terms to listen for, for recognisers that take them.',
    examples: [['Patchbay', 'Lovelace']],
  }),
  transcribe: Type.Enum(TRANSCRIBERS, {
    description:
      'Whose words for what callers say are kept where the agent’s model is of speech to speech: `own`, the recogniser’s, or `model`, which corrects them by what the model understood.',
  }),
  pronunciation: Type.Array(
    Type.Object({
      word: Type.String({ minLength: 1, maxLength: 100, description: 'As it is written; in any case of letters.' }),
      say: Type.String({ minLength: 1, maxLength: 200, description: 'What the voice is given in its place.' }),
    }),
    { maxItems: MAX_WORDS, description: 'How the voice says words it would say wrong.' },
  ),
  ai_disclosure: Type.Enum(AI_DISCLOSURES, {
    description:
      'When the agent says that it is an AI: `before` everything else, `after` its first message, or not by itself (`off`). `auto`: after the first message, on telephone calls with a number of a country whose law wants it, unless the first message says so.',
  }),
  register: Type.Enum(REGISTERS, {
    description:
      'On what terms the agent is with callers: `Sie` or `du`. Holds for its model and for the built-in sentences.',
  }),
  phrases: Type.Object(
    Object.fromEntries(
      OWN_PHRASES.map((name) => [
        snake(name),
        Type.Optional(Type.String({ minLength: 1, maxLength: MAX_PHRASE_CHARS })),
      ]),
    ) as Record<Snake<OwnPhrase>, PhraseField>,
    {
      additionalProperties: false,
      description: 'Sentences of its own in place of the built-in ones of its language.',
    },
  ),
}

const SpeechInput = Type.Partial(Type.Object(speechFields))
type SpeechInput = Static<typeof SpeechInput>
type Interruption = Static<typeof speechFields.interruption>
type DeadAir = Static<typeof speechFields.dead_air>

/** The columns of the fields that were sent; undefined: it was not. */
export function speechColumns(input: SpeechInput) {
  const json = (value: unknown): string | undefined => (value === undefined ? undefined : JSON.stringify(value))
  return {
    language: input.language && canonicalTag(input.language),
    interruption: json(input.interruption),
    timezone: input.timezone,
    endpointing: input.endpointing,
    dead_air: json(input.dead_air),
    max_duration_s: input.max_duration_s,
    idle_timeout_s: input.idle_timeout_s,
    keyterms: json(input.keyterms),
    transcribe: input.transcribe,
    pronunciation: json(input.pronunciation),
    ai_disclosure: input.ai_disclosure,
    register: input.register,
    phrases: json(input.phrases),
  }
}

/** The fields as callers see them, with what holds where nothing was said. */
export function speechBody(agent: Agent) {
  const { enabled = true, sensitivity = 'normal' } = agent.interruption as Interruption
  const deadAir = agent.dead_air as DeadAir
  return {
    language: agent.language,
    interruption: { enabled, sensitivity },
    timezone: agent.timezone,
    endpointing: agent.endpointing,
    dead_air: { enabled: deadAir.enabled ?? true, phrases: deadAir.phrases ?? [] },
    max_duration_s: agent.max_duration_s,
    idle_timeout_s: agent.idle_timeout_s,
    keyterms: agent.keyterms,
    transcribe: agent.transcribe,
    pronunciation: agent.pronunciation,
    ai_disclosure: agent.ai_disclosure,
    register: agent.register,
    phrases: agent.phrases,
  }
}

/** What an operator should know about how the agent speaks. */
export function speechWarnings(agent: Agent): string[] {
  if (speaks(agent.language)) return []
  const missing = OWN_PHRASES.map(snake).filter((name) => agent.phrases[name] === undefined)
  if (missing.length === 0) return []
  const { name } = languageOf(agent.language)
  return [
    `Patchbay has no sentences in ${name} ("${agent.language}"): the agent says nothing by itself in place of these phrases until it has them: ${missing.join(', ')}`,
  ]
}

/** The fields as a conversation needs them. */
export function speechSpec(
  agent: Agent,
): Pick<
  AgentSpec,
  | 'language'
  | 'interruption'
  | 'endpointing'
  | 'deadAir'
  | 'keyterms'
  | 'transcribe'
  | 'pronunciation'
  | 'register'
  | 'phrases'
> {
  const { language, interruption, endpointing, dead_air, keyterms, transcribe, pronunciation, register } =
    speechBody(agent)
  const own = OWN_PHRASES.flatMap((name) => {
    const phrase = agent.phrases[snake(name)]
    return phrase === undefined ? [] : [[name, phrase]]
  })
  return {
    ...{ language, interruption, endpointing, deadAir: dead_air, keyterms, pronunciation },
    ...(register === 'formal' ? {} : { register }),
    ...(transcribe === 'own' ? {} : { transcribe }),
    ...(own.length === 0 ? {} : { phrases: Object.fromEntries(own) }),
  }
}

/** The limits of an agent's calls: its own where it has any, never longer than the server's. */
export function limitsOf(agent: Agent, limits: SessionLimits): SessionLimits {
  const { max_duration_s, idle_timeout_s } = agent
  return {
    idleMs: idle_timeout_s === null ? limits.idleMs : idle_timeout_s * 1000,
    maxDurationMs:
      max_duration_s === null ? limits.maxDurationMs : Math.min(limits.maxDurationMs, max_duration_s * 1000),
  }
}

function canonicalTag(tag: string): string {
  if (tag.toLowerCase() === 'multi') return 'multi'
  return Intl.getCanonicalLocales(tag)[0] ?? tag
}

/**
 * A fault for a language that a recogniser or voice of the agent doesn't know, naming those it knows, and for a
 * invalid tag. English by default is no fault of an agent.
 */
export function languageFaults(
  input: SpeechInput,
  current: string,
  choices: Choices,
  fallbacks: FallbacksInput,
  catalogue: Catalogue,
): Fault[] {
  const language = input.language ?? current
  if (input.language === undefined && language === DEFAULT_LANGUAGE) return []
  if (!isTag(language)) {
    const msg = 'must be a language tag such as "de" or "pt-BR", or "multi"'
    return [{ loc: ['body', 'language'], msg, type: 'value_error' }]
  }
  const faults: Fault[] = []
  const check = (kind: 'stt' | 'tts', provider: string, name: string, loc: string[]): void => {
    // A voice speaks what it is given; to follow a caller is the recogniser's part.
    if (kind === 'tts' && language === 'multi') return
    const provides = catalogue[kind].get(provider)
    if (provides === undefined || listedLanguage(provides, name, language) !== undefined) return
    const known = (languagesOf(provides, name) ?? []).map((one) => JSON.stringify(one)).join(', ')
    const who = `${kind === 'stt' ? 'recogniser' : 'voice'} ${JSON.stringify(name)} of "${provider}"`
    faults.push({
      loc: ['body', ...loc],
      msg: `must be one of ${known}: the ${who} ${kind === 'stt' ? 'understands' : 'speaks'} no ${JSON.stringify(language)}`,
      type: 'enum',
    })
  }
  check('stt', choices.STT_provider, choices.STT_model, ['language'])
  check('tts', choices.TTS_provider, choices.TTS_voice, ['language'])
  for (const [i, { provider, model }] of (fallbacks.STT ?? []).entries()) {
    check('stt', provider, model, ['fallbacks', 'STT', String(i), 'model'])
  }
  for (const [i, { provider, voice }] of (fallbacks.TTS ?? []).entries()) {
    check('tts', provider, voice, ['fallbacks', 'TTS', String(i), 'voice'])
  }
  return faults
}

function isTag(tag: string): boolean {
  try {
    canonicalTag(tag)
    return true
  } catch {
    return false
  }
}
