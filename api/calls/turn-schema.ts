import { type Static, Type } from 'typebox'
import type { ServingModel, TurnEvidence } from '../../runtime/call/log/turn-evidence.ts'
import type { Call, CallTurn } from '../../store/database/schema.ts'
import { Id, Nullable } from '../schema.ts'
import { TokenParts, tokenParts } from './token-parts.ts'

const Ms = Type.Number({ description: 'Milliseconds.' })
const AtMs = Type.Integer({ description: 'Milliseconds from the answer.' })
const Provider = Nullable(Type.Object({ provider: Type.String(), model: Nullable(Type.String()) }))

export const TurnBody = Type.Object({
  turn: Type.Integer({ description: 'Its place in the transcript, from 0.' }),
  role: Type.Enum(['user', 'assistant']),
  text: Type.String(),
  start_ms: AtMs,
  end_ms: AtMs,
  interrupted: Type.Boolean(),
  audio_url: Nullable(Type.String({ description: 'How it sounded; null: the call was not recorded.' })),
  latency: Nullable(
    Type.Object(
      { endpointing_ms: Ms, stt_ms: Ms, llm_ms: Ms, tts_ms: Ms, total_ms: Ms },
      { description: "From the end of the caller's speech to the first sound of the answer, by stage." },
    ),
  ),
  tools: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      arguments: Type.Record(Type.String(), Type.Unknown()),
      start_ms: AtMs,
      duration_ms: Nullable(Ms),
      result: Nullable(Type.String()),
      error: Nullable(Type.String()),
    }),
  ),
  knowledge: Type.Array(
    Type.Object({
      query: Type.String(),
      start_ms: AtMs,
      duration_ms: Ms,
      hits: Type.Array(Type.Object({ document_id: Id, filename: Type.String(), score: Type.Number() })),
    }),
  ),
  usage: Type.Object({
    llm_input_tokens: Type.Integer({ description: "The prompt's tokens." }),
    llm_output_tokens: Type.Integer(),
    stt_seconds: Type.Number(),
    tts_characters: Type.Integer(),
    ...TokenParts,
  }),
  providers: Type.Object({ stt: Provider, llm: Provider, tts: Provider }),
  faults: Type.Array(Type.String()),
})

/** A turn as callers of the API see it. */
export function turnBody(
  call: Pick<Call, 'id' | 'recording_key'>,
  turn: CallTurn,
  evidence: TurnEvidence | undefined,
  publicUrl: string,
): Static<typeof TurnBody> {
  const { usage } = evidence ?? {}
  return {
    turn: turn.seq,
    role: turn.role,
    text: turn.text,
    start_ms: turn.start_ms,
    end_ms: turn.end_ms,
    interrupted: turn.interrupted,
    audio_url: call.recording_key === null ? null : `${publicUrl}/calls/${call.id}/turns/${turn.seq}/audio`,
    latency: evidence?.latency ?? null,
    tools: (evidence?.tools ?? []).map(({ id, name, arguments: given, startMs, ms, result, error }) => ({
      id,
      name,
      arguments: given,
      start_ms: Math.round(startMs),
      duration_ms: ms ?? null,
      result: result ?? null,
      error: error ?? null,
    })),
    knowledge: (evidence?.knowledge ?? []).map(({ query, hits, startMs, ms }) => ({
      query,
      start_ms: Math.round(startMs),
      duration_ms: ms,
      hits,
    })),
    usage: {
      llm_input_tokens: Math.round(usage?.llmInputTokens ?? 0),
      llm_output_tokens: Math.round(usage?.llmOutputTokens ?? 0),
      stt_seconds: usage?.sttSeconds ?? 0,
      tts_characters: Math.round(usage?.ttsCharacters ?? 0),
      ...tokenParts(usage),
    },
    providers: {
      stt: served(evidence?.providers.stt),
      llm: served(evidence?.providers.llm),
      tts: served(evidence?.providers.tts),
    },
    faults: evidence?.faults ?? [],
  }
}

const served = (by: ServingModel | undefined) =>
  by === undefined ? null : { provider: by.provider, model: by.model ?? null }

export const turnExample: Static<typeof TurnBody> = {
  turn: 2,
  role: 'assistant',
  text: 'We open at nine.',
  start_ms: 4150,
  end_ms: 5600,
  interrupted: false,
  audio_url: 'http://localhost:8080/calls/0197f3a2-7c1e-7000-8000-000000000004/turns/2/audio',
  latency: { endpointing_ms: 210, stt_ms: 90, llm_ms: 220, tts_ms: 130, total_ms: 650 },
  tools: [],
  knowledge: [
    {
      query: 'opening hours',
      start_ms: 3720,
      duration_ms: 12,
      hits: [{ document_id: '0197f3a2-7c1e-7000-8000-000000000007', filename: 'hours.md', score: 0.83 }],
    },
  ],
  usage: {
    llm_input_tokens: 210,
    llm_output_tokens: 18,
    stt_seconds: 3.1,
    tts_characters: 16,
    ...tokenParts({
      llmInputTokens: 210,
      llmCachedReadTokens: 180,
      llmOutputTokens: 18,
      sttSeconds: 3.1,
      ttsCharacters: 16,
    }),
  },
  providers: {
    stt: { provider: 'deepgram', model: 'nova-3' },
    llm: { provider: 'openai', model: 'gpt-4.1-mini' },
    tts: { provider: 'cartesia', model: 'sonic-3' },
  },
  faults: [],
}
