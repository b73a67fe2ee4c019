import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'

/** What a backup says of itself, ahead of its rows. Its author may be anybody, so each name is one of ours or refused. */

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

const ArchiveHeadSchema = Type.Intersect([
  DumpHeadSchema,
  Type.Object({ format: Type.Literal(1), createdAt: Type.String({ maxLength: 40 }), hasFiles: Type.Boolean() }),
])

export type Table = Static<typeof Table>
export type Sequence = Static<typeof Sequence>
export type DumpHead = Static<typeof DumpHeadSchema>
export type ArchiveHead = Static<typeof ArchiveHeadSchema>

export const archiveHeadValidator = Compile(ArchiveHeadSchema)
