import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'

/** What a model is for: hearing, speaking, or taking noise away before the recogniser. */
const MODEL_KINDS = ['stt', 'tts', 'denoise'] as const
export type ModelKind = (typeof MODEL_KINDS)[number]

const Path = Type.String({ pattern: '^(?!/)(?!.*\\.\\.)[\\w./ -]+$' })

const Entry = Type.Object(
  {
    id: Type.String({ pattern: '^[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?$' }),
    title: Type.String({ minLength: 1, maxLength: 200 }),
    kind: Type.Enum([...MODEL_KINDS]),
    /** By what the plugin runs it. */
    engine: Type.String({ minLength: 1 }),
    /** Language tags, and `multi` where it follows the spoken language. */
    languages: Type.Array(Type.String()),
    license: Type.String({ minLength: 1 }),
    /** About; the hub says exactly. */
    megabytes: Type.Number({ exclusiveMinimum: 0 }),
    /** `owner/name` on the hub. */
    repository: Type.String({ pattern: '^[\\w.-]+/[\\w.-]+$' }),
    /** What is needed of it, by its part; a path that ends with `/` is a folder. */
    parts: Type.Record(Type.String(), Path),
    /** Of a voice: its rate and its speakers' names, by number; absent for a single unnamed speaker. */
    sampleRateHz: Type.Optional(Type.Integer({ minimum: 8_000, maximum: 48_000 })),
    speakers: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })),
  },
  { additionalProperties: false },
)
const validator = Compile(Type.Array(Entry, { maxItems: 1_000 }))

/** A model that a plugin can run once the operator has downloaded it. */
export type ModelEntry = Static<typeof Entry>

/** The models of a plugin, as the file its manifest names lists them. Throws an Error that says what is wrong with it. */
export async function readCatalogue(dir: string, file: string): Promise<readonly ModelEntry[]> {
  const entries: unknown = JSON.parse(await readFile(join(dir, file), 'utf8'))
  if (validator.Check(entries)) return entries
  const [fault] = validator.Errors(entries)
  throw new Error(`${file}: ${fault?.instancePath ?? ''} ${fault?.message ?? 'is no list of models'}`)
}

/** What an agent names to be spoken to by a model: the model, or one of its speakers. */
export function voicesOf({ id, speakers }: ModelEntry): readonly string[] {
  return speakers === undefined ? [id] : speakers.map((speaker) => `${id}:${speaker}`)
}
