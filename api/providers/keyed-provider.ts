import { type Static, Type } from 'typebox'
import { Instant, Nullable } from '../schema.ts'
import { HealthBody } from './schema.ts'

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
  health: HealthBody,
})
export type KeyedProvider = Static<typeof KeyedProviderBody>

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
