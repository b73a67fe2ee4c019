import type { Store } from '../database/database.ts'

/** Sets of zones and states whose hours must all be open. A few hundred exist, however many prospects. */
export interface WindowGroup {
  id: number
  zones: readonly string[]
  regions: readonly string[]
}

type Members = Pick<WindowGroup, 'zones' | 'regions'>

const keyOf = ({ zones, regions }: Members): string => `${zones.join(' ')}|${regions.join(' ')}`

/** Rows never change, so what was read once stays true. */
const known = new WeakMap<Store, { byKey: Map<string, WindowGroup>; byId: Map<number, WindowGroup> }>()

function cacheOf(store: Store) {
  let cache = known.get(store)
  if (cache === undefined) {
    cache = { byKey: new Map(), byId: new Map() }
    known.set(store, cache)
  }
  return cache
}

/** The group of these zones and states, both sorted; created if missing. */
export async function windowGroupOf(store: Store, members: Members): Promise<WindowGroup> {
  const cache = cacheOf(store)
  const key = keyOf(members)
  const found = cache.byKey.get(key)
  if (found !== undefined) return found
  const { zones, regions } = members
  const { rows } = await store.pool.query<{ id: number }>(WINDOW_GROUP_SQL, [key, zones, regions])
  const group = { id: rows[0]!.id, zones: [...zones], regions: [...regions] }
  cache.byKey.set(key, group)
  cache.byId.set(group.id, group)
  return group
}

/** Inserts or finds; parameters: key, zones, regions. */
export const WINDOW_GROUP_SQL = `
  with made as (
    insert into window_groups (key, zones, regions) values ($1, $2, $3) on conflict (key) do nothing returning id
  )
  select id from made union all select id from window_groups where key = $1 limit 1`

export const windowGroupKey = keyOf

export async function windowGroupsById(store: Store, ids: readonly number[]): Promise<Map<number, WindowGroup>> {
  const { byId } = cacheOf(store)
  const missing = ids.filter((id) => !byId.has(id))
  if (missing.length > 0) {
    const rows = await store.global.selectFrom('window_groups').selectAll().where('id', 'in', missing).execute()
    for (const { id, zones, regions } of rows) byId.set(id, { id, zones, regions })
  }
  return new Map(ids.flatMap((id) => (byId.has(id) ? [[id, byId.get(id)!]] : [])))
}
