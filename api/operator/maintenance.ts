import { Gauge, type Registry } from 'prom-client'
import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { beginMaintenance, endMaintenance, type Maintenance, maintenanceOf } from '../../store/accounts/maintenance.ts'
import type { Store } from '../../store/database/database.ts'
import { defineRoute } from '../route.ts'
import { MaintenanceBody } from './schema.ts'

const common = { auth: 'jwt', role: 'operator', tag: 'Operator' } as const
const RETRY_AFTER_S = '60'

const example = { since: '2026-01-31T09:00:00.000Z', message: 'The database is being moved; back at 10:00 UTC.' }

const shown = (found: Maintenance | null) => ({
  maintenance: found && { since: found.since.toISOString(), message: found.message },
})

const read = defineRoute({
  method: 'GET',
  path: '/maintenance',
  auth: 'none',
  role: 'none',
  success: { status: 200, schema: MaintenanceBody },
  tag: 'System',
  summary: 'Whether the installation is in maintenance: no call begins',
  examples: { success: { maintenance: example } },
  handler: async (_, { store }) => shown(await maintenanceOf(store)),
})

const begin = defineRoute({
  ...common,
  method: 'PUT',
  path: '/operator/maintenance',
  audit: ['message'],
  body: Type.Object({
    message: Type.String({
      maxLength: 500,
      default: '',
      description: 'For everybody who asks why no call begins, and for all users of the console.',
    }),
  }),
  success: { status: 200, schema: MaintenanceBody },
  summary: 'Begin maintenance, or change its sentence: no call begins, those that run go on',
  description:
    'At once and on every node: calls and web sessions that are asked for get 503 `maintenance`, calls that come in are refused (SIP 503), campaigns and batches dial nobody and go on afterwards where they were.',
  examples: { body: { message: example.message }, success: { maintenance: example } },
  handler: async ({ body }, { store, log }) => {
    await beginMaintenance(store, body.message)
    log.warn({ message: body.message }, 'Maintenance begins: no new call is taken')
    return shown(await maintenanceOf(store))
  },
})

const end = defineRoute({
  ...common,
  method: 'DELETE',
  path: '/operator/maintenance',
  success: { status: 200, schema: MaintenanceBody },
  summary: 'End maintenance',
  examples: { success: { maintenance: null } },
  handler: async (_, { store, log }) => {
    await endMaintenance(store)
    log.warn('Maintenance is over: calls are taken')
    return { maintenance: null }
  },
})

export const maintenanceRoutes = [read, begin, end]

/** Throws `maintenance` while no call may begin. */
export async function requireNoMaintenance(store: Pick<Store, 'global'>): Promise<void> {
  const found = await maintenanceOf(store)
  if (found === null) return
  const message = found.message === '' ? 'ask again later' : found.message
  throw new PatchbayError('maintenance', { params: { message }, headers: { 'retry-after': RETRY_AFTER_S } })
}

/** Whether it is on, for dashboards and alerts. */
export function measureMaintenance(registry: Registry, store: Pick<Store, 'global'>): void {
  new Gauge({
    name: 'patchbay_maintenance',
    help: '1 while an operator has the installation take no new call',
    registers: [registry],
    async collect() {
      // The page has everything else while the database can't be asked.
      const found = await maintenanceOf(store).catch(() => undefined)
      this.remove()
      if (found !== undefined) this.set(found === null ? 0 : 1)
    },
  })
}
