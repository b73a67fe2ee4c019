import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'

/** What a backup says of itself, ahead of its rows and at its end. Its author may be anybody, so each name is one of ours or refused. */

const Name = Type.String({ pattern: '^[a-z_][a-z0-9_]{0,62}$' })

const Table = Type.Object({
  name: Name,
  /** In the order of the copy; generated ones are made anew. */
  columns: Type.Array(Name, { minItems: 1, maxItems: 1_600, uniqueItems: true }),
  /** Of a partitioned table: its partitions. The name of each says what lies in it. */
  partitions: Type.Array(Type.Object({ name: Name }), { maxItems: 10_000 }),
})

const Sequence = Type.Object({
  name: Name,
  /** Null: it has given nothing out yet. */
  lastValue: Type.Union([Type.Null(), Type.String({ pattern: '^\\d{1,19}$' })]),
})

/** What is written before the data. */
const DumpHeadSchema = Type.Object({
  migrations: Type.Array(Type.String({ pattern: '^\\d{4}-[a-z0-9-]{1,100}$' }), { maxItems: 10_000 }),
  tables: Type.Array(Table, { maxItems: 10_000 }),
  sequences: Type.Array(Sequence, { maxItems: 10_000 }),
})

/** 1 has nothing in its end, 2 has sums of the data there. */
export const FORMATS: readonly number[] = [1, 2]

const ArchiveHeadSchema = Type.Intersect([
  DumpHeadSchema,
  Type.Object({
    format: Type.Union([Type.Literal(1), Type.Literal(2)]),
    createdAt: Type.String({ maxLength: 40 }),
    hasFiles: Type.Boolean(),
  }),
])

const Count = Type.Integer({ minimum: 0 })
const Digest = Type.String({ pattern: '^[0-9a-f]{64}$' })

/** What is written after the data, and compared with what was read. */
const ArchiveEndSchema = Type.Object({
  tables: Type.Array(Type.Object({ name: Name, rows: Count, digest: Digest }), { maxItems: 10_000 }),
  files: Type.Object({ count: Count, bytes: Count, digest: Digest }),
})

export type Table = Static<typeof Table>
export type Sequence = Static<typeof Sequence>
export type DumpHead = Static<typeof DumpHeadSchema>
export type ArchiveHead = Static<typeof ArchiveHeadSchema>
export type ArchiveEnd = Static<typeof ArchiveEndSchema>

export const archiveHeadValidator = Compile(ArchiveHeadSchema)
export const archiveEndValidator = Compile(ArchiveEndSchema)
