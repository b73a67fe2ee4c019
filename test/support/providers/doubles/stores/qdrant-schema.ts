import type { Schemas } from '@qdrant/js-client-rest'
import { type Static, type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'

/**
 * The requests the Qdrant double takes, to the letter: an unknown field is refused. That each is a request of Qdrant itself is
 * checked by the compiler, against the types generated from Qdrant's OpenAPI document.
 */

const strict = { additionalProperties: false } as const
const object = <T extends Record<string, TSchema>>(properties: T) => Type.Object(properties, strict)

const Match = Type.Union([
  object({ value: Type.String() }),
  object({ any: Type.Array(Type.String(), { minItems: 1 }) }),
])
const Filter = object({
  must: Type.Array(object({ key: Type.String(), match: Match }), { minItems: 1 }),
})
const Sparse = object({
  indices: Type.Array(Type.Integer({ minimum: 0, maximum: 0xffffffff })),
  values: Type.Array(Type.Number()),
})
const Params = object({ idf: object({ corpus: Filter }) })
const Dense = Type.Array(Type.Number(), { minItems: 1 })
const Prefetch = object({
  query: Type.Union([Dense, Sparse]),
  using: Type.String(),
  filter: Filter,
  limit: Type.Integer({ minimum: 1 }),
  params: Type.Optional(Params),
})
const Query = object({
  prefetch: Type.Optional(Type.Array(Prefetch, { minItems: 1 })),
  query: Type.Union([Dense, Sparse, object({ fusion: Type.Literal('rrf') })]),
  using: Type.Optional(Type.String()),
  filter: Filter,
  limit: Type.Integer({ minimum: 1 }),
  params: Type.Optional(Params),
  with_payload: Type.Array(Type.String()),
})
const Points = object({
  points: Type.Array(
    object({
      id: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
      vector: object({ bm25: Sparse, dense: Type.Optional(Dense) }),
      payload: Type.Record(Type.String(), Type.Union([Type.String(), Type.Integer()])),
    }),
    { minItems: 1, maxItems: 256 },
  ),
})
const Removal = object({ filter: Filter })
const Collection = object({
  vectors: object({
    dense: Type.Optional(
      object({
        size: Type.Integer({ minimum: 1, maximum: 65_536 }),
        distance: Type.Literal('Cosine'),
        on_disk: Type.Boolean(),
      }),
    ),
  }),
  sparse_vectors: object({ bm25: object({ modifier: Type.Literal('idf') }) }),
  hnsw_config: object({ m: Type.Integer(), payload_m: Type.Integer() }),
})
const Index = object({
  field_name: Type.String(),
  field_schema: object({ type: Type.Literal('keyword'), is_tenant: Type.Boolean() }),
})

type Fits<Taken, Published> = Taken extends Published ? true : never
export const FITS: [
  Fits<Static<typeof Query>, Schemas['QueryRequest']>,
  Fits<Static<typeof Points>, Schemas['PointsList']>,
  Fits<Static<typeof Removal>, Schemas['FilterSelector']>,
  Fits<Static<typeof Collection>, Schemas['CreateCollection']>,
  Fits<Static<typeof Index>, Schemas['CreateFieldIndex']>,
] = [true, true, true, true, true]

export type QdrantQuery = Static<typeof Query>
export type QdrantLeg = Pick<Static<typeof Prefetch>, 'query' | 'using' | 'filter' | 'params'> & { limit: number }
export type QdrantPoint = Static<typeof Points>['points'][number]
export type QdrantFilter = Static<typeof Filter>
export type QdrantCollection = Static<typeof Collection>

export const validators = {
  query: Compile(Query),
  points: Compile(Points),
  removal: Compile(Removal),
  collection: Compile(Collection),
  index: Compile(Index),
}
