import { type Static, Type } from 'typebox'
import { PERMISSIONS } from '../../runtime/plugin/grants/permissions.ts'
import { Instant, Nullable } from '../schema.ts'

const Usd = (what: string) => Type.Number({ description: `US dollars for ${what}.` })

const LlmPrice = Type.Object({
  input_per_million_tokens: Usd('a million tokens read'),
  output_per_million_tokens: Usd('a million tokens written'),
})
const SttPrice = Type.Object({
  per_minute: Usd('a minute of audio'),
  per_minute_multi: Type.Optional(Usd('a minute of audio of agents whose language is `multi`, where it differs')),
})
const TtsPrice = Type.Object({ per_million_characters: Usd('a million characters spoken') })
const NO_PRICE = 'null where it is not known.'

const Languages = Type.Array(Type.String(), {
  description: 'Language tags; `multi` follows whatever is spoken; empty: any language.',
})
const AnyName = Type.Boolean({ description: 'The list is no limit: another name may be used, too.' })
const IsDefault = Type.Boolean({ description: 'New agents that name no provider get this one.' })

const Llm = Type.Object({
  is_default: IsDefault,
  any_model: AnyName,
  default_model: Nullable(Type.String()),
  models: Type.Array(
    Type.Object({
      model: Type.String(),
      speech_to_speech: Type.Boolean({
        description:
          'It hears the caller and speaks itself; the agent’s language model fallbacks and voice take over when it fails.',
      }),
      price: Nullable(Type.Object(LlmPrice.properties, { description: NO_PRICE })),
    }),
  ),
  speech_to_speech: Type.Array(Type.String(), {
    description: 'Names of models that hear and speak themselves, listed or not; `*` stands for any text.',
  }),
})
const Stt = Type.Object({
  is_default: IsDefault,
  understands: Nullable(
    Type.Record(Type.String(), Type.Array(Type.String()), {
      description: 'Of a recogniser that knows sentences and no speech: all it understands, by language. Else null.',
    }),
  ),
  any_model: AnyName,
  default_model: Nullable(Type.String()),
  models: Type.Array(
    Type.Object({
      model: Type.String(),
      languages: Languages,
      price: Nullable(Type.Object(SttPrice.properties, { description: NO_PRICE })),
    }),
  ),
})
const Tts = Type.Object({
  is_default: IsDefault,
  any_voice: AnyName,
  default_voice: Nullable(Type.String()),
  voices: Type.Array(
    Type.Object({
      voice: Type.String({ description: 'What an agent names.' }),
      name: Type.String({ description: 'What people call it.' }),
      languages: Languages,
      sample_url: Nullable(Type.String({ description: 'Where the provider lets it be heard.' })),
      price: Nullable(Type.Object(TtsPrice.properties, { description: NO_PRICE })),
    }),
  ),
})

const Entries = Type.Array(Type.String())

export const ProviderHealthBody = Type.Object({
  state: Type.Enum(['ok', 'no_key', 'refused', 'failed', 'broken', 'not_asked'], {
    description:
      '`no_key`: not set up. `refused`: its key was refused. `failed`: it does not answer as it should. `broken`: the plugin can’t be used. `not_asked`: it has not answered yet.',
  }),
  latency_ms: Nullable(Type.Number()),
  message: Nullable(Type.String({ description: 'What is wrong, and the cure.' })),
})

export const ProviderBody = Type.Object({
  provider: Type.String({ description: 'What an agent names.' }),
  title: Type.String({ description: 'What people call it.' }),
  description: Nullable(Type.String()),
  allowed: Type.Boolean({ description: 'Whether the operator lets agents of this workspace use it.' }),
  isolation: Type.Enum(['none', 'process', 'node'], {
    description:
      '`process`: it runs in a process of its own that can do nothing but what was granted. `node`: it runs in a process of its own, so that a fault of its native code ends no call.',
  }),
  health: ProviderHealthBody,
  own_key: Type.Boolean({ description: 'The workspace’s own key is used, and its account billed.' }),
  grants: Nullable(
    Type.Object(
      Object.fromEntries(PERMISSIONS.map((name) => [name, Entries])) as Record<
        (typeof PERMISSIONS)[number],
        typeof Entries
      >,
      { description: 'What the operator granted the plugin; shown to operators alone.' },
    ),
  ),
  llm: Nullable(Llm),
  stt: Nullable(Stt),
  tts: Nullable(Tts),
})
export type ProviderBody = Static<typeof ProviderBody>

export const ProvidersBody = Type.Object({
  providers: Type.Array(ProviderBody),
})

const KEYS = Type.Record(Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,99}$' }), Type.String({ maxLength: 4096 }), {
  description: 'By variable, as `variables` of the provider names them.',
  examples: [{ TWILIO_AUTH_TOKEN: '0f5a4c8a1be24d7f9c3d2a6b8e7f9f3c' }],
})
export const KeysInput = Type.Object({ keys: KEYS })

export const KeyedProviderBody = Type.Object({
  provider: Type.String({ description: 'What agents and numbers name.' }),
  title: Type.String({ description: 'What people call it.' }),
  kinds: Type.Array(Type.String(), { description: 'What it provides: `llm`, `stt`, `tts`, `telephony`.' }),
  variables: Type.Array(
    Type.Object({
      variable: Type.String({ description: 'As the environment would name it; the first one is the key.' }),
      source: Nullable(
        Type.Enum(['environment', 'stored'], {
          description: 'Where its value comes from; null: it has none. The environment wins over what is stored.',
        }),
      ),
      hint: Nullable(Type.String({ description: 'The last characters of what is stored.' })),
      set_at: Nullable(Instant),
    }),
  ),
  health: ProviderHealthBody,
})
export type KeyedProvider = Static<typeof KeyedProviderBody>

export const OwnKeyBody = Type.Object({
  provider: KeyedProviderBody.properties.provider,
  title: KeyedProviderBody.properties.title,
  kinds: KeyedProviderBody.properties.kinds,
  variables: Type.Array(
    Type.Object({
      variable: Type.String({ description: 'The first one is the key.' }),
      hint: Nullable(Type.String({ description: 'The last characters of what is stored.' })),
    }),
  ),
  account: Nullable(
    Type.Enum(['workspace', 'installation'], {
      description: 'Whose account serves the agents of the workspace, and is billed; null: none does.',
    }),
  ),
  set_at: Nullable(Instant),
})
export type OwnKey = Static<typeof OwnKeyBody>

export const ownKeyExample: OwnKey = {
  provider: 'deepgram',
  title: 'Deepgram',
  kinds: ['stt', 'tts'],
  variables: [{ variable: 'DEEPGRAM_API_KEY', hint: '9f3c' }],
  account: 'workspace',
  set_at: '2026-01-31T09:00:00.000Z',
}
export const ownKeysExample = { keys: { DEEPGRAM_API_KEY: '0f5a4c8a1be24d7f9c3d2a6b8e7f9f3c' } }

export const keyedProviderExample: KeyedProvider = {
  provider: 'twilio',
  title: 'Twilio',
  kinds: ['telephony'],
  variables: [
    { variable: 'TWILIO_AUTH_TOKEN', source: 'stored', hint: '9f3c', set_at: '2026-01-31T09:00:00.000Z' },
    { variable: 'TWILIO_ACCOUNT_SID', source: 'stored', hint: '41d7', set_at: '2026-01-31T09:00:00.000Z' },
  ],
  health: { state: 'ok', latency_ms: 84, message: null },
}
export const healthExample = { state: 'ok', latency_ms: 84, message: null } as const
export const keysExample = { keys: { TWILIO_AUTH_TOKEN: '0f5a4c8a1be24d7f9c3d2a6b8e7f9f3c' } }

export const providersExample: Static<typeof ProvidersBody> = {
  providers: [
    {
      provider: 'deepgram',
      title: 'Deepgram',
      description: 'Speech to text and text to speech.',
      allowed: true,
      isolation: 'none',
      health: { state: 'ok', latency_ms: 84, message: null },
      own_key: false,
      grants: null,
      llm: null,
      stt: {
        is_default: true,
        understands: null,
        any_model: false,
        default_model: 'nova-3',
        models: [{ model: 'nova-3', languages: ['multi', 'en', 'de'], price: { per_minute: 0.0077 } }],
      },
      tts: {
        is_default: false,
        any_voice: false,
        default_voice: 'aura-2-thalia-en',
        voices: [
          {
            voice: 'aura-2-thalia-en',
            name: 'aura-2-thalia-en',
            languages: ['en'],
            sample_url: null,
            price: { per_million_characters: 30 },
          },
        ],
      },
    },
  ],
}
