import { Type } from 'typebox'
import { POOL_KINDS } from '../../store/workspaces/worker-pools.ts'

export const Rule = Type.Object({
  kind: Type.Enum([...POOL_KINDS], {
    description: 'Whose calls. An agent goes before its workspace, both before a region.',
  }),
  key: Type.String({
    maxLength: 36,
    description: 'The id of the agent or workspace; of a region the beginning of your own numbers: `+49`, `+1415`.',
  }),
  pool: Type.String({
    pattern: '^[a-z0-9][a-z0-9-]{0,31}$',
    description: 'As `PATCHBAY_WORKER_POOL` of its voice workers says.',
  }),
})

export const Pools = Type.Object({
  rules: Type.Array(Rule),
  pools: Type.Array(
    Type.Object({
      pool: Type.String({ description: 'Empty: the one that serves everybody without a rule.' }),
      workers: Type.Integer(),
      seats: Type.Integer(),
      ready: Type.Integer({ description: 'Seats that are free.' }),
    }),
  ),
})
