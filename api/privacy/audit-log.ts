import { type Static, Type } from 'typebox'
import { type AuditFilter, type AuditRow, auditPage, eachAuditEntry } from '../../store/accounts/audit-log.ts'
import { type Cell, csvRecord } from '../../store/uploads/csv-export.ts'
import { csvFile } from '../csv-file.ts'
import { CursorPage, CursorQuery, cursorOf, cursorPageOf, lastOf, partOf } from '../cursor.ts'
import { AuditBody, auditBody, auditExample } from '../operator/schema.ts'
import { defineRoute } from '../route.ts'
import { parseInstant } from '../schema.ts'

/** Who did what: of a workspace for its Admins, of the installation for its operators; as pages and as a file. */

const FILTERS = {
  actor_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only what this user or key did.' })),
  action: Type.Optional(Type.String({ maxLength: 200, description: 'Only this action.' })),
  resource: Type.Optional(
    Type.String({ maxLength: 500, description: 'Only what was done to this path, such as `/agents`, or under it.' }),
  ),
  start_date: Type.Optional(Type.String({ format: 'date-time', description: 'Done then or later.' })),
  end_date: Type.Optional(Type.String({ format: 'date-time', description: 'Done before.' })),
}
const OPERATOR_FILTERS = {
  ...FILTERS,
  workspace_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only entries of this workspace.' })),
}
const Filters = Type.Object(OPERATOR_FILTERS)

const workspaces = { auth: 'jwt', role: 'admin', tag: 'Privacy' } as const
const operators = { auth: 'jwt', role: 'operator', tag: 'Operator' } as const
const page = { status: 200, schema: CursorPage(AuditBody) } as const
const file = { status: 200, schema: Type.String(), contentType: 'text/csv; charset=utf-8' } as const
const examples = { success: { items: [auditExample], total: 1, page: 1, page_size: 25, total_pages: 1 } }

const log = defineRoute({
  ...workspaces,
  method: 'GET',
  path: '/audit-log',
  query: Type.Object({ ...CursorQuery, ...FILTERS }),
  success: page,
  summary: 'Who did what in the workspace, newest first',
  description: 'Kept for two years; nobody can change it.',
  examples,
  handler: async ({ query, tenant }, { store }) => {
    const filter = filterOf({ ...query, workspace_id: tenant.workspaceId })
    const { rows, total } = await auditPage(store, filter, partOf(query, cursorOf(query)))
    return cursorPageOf(rows.map(auditBody), total, query, lastOf(rows))
  },
})

const logFile = defineRoute({
  ...workspaces,
  method: 'GET',
  path: '/audit-log/export-csv',
  audit: [],
  query: Type.Object(FILTERS),
  success: file,
  summary: 'Who did what in the workspace as a CSV file, newest first',
  handler: ({ query, tenant: { workspaceId }, signal }, { store, clock }) => {
    const filter = filterOf({ ...query, workspace_id: workspaceId })
    const rows = () => csvOf(eachAuditEntry(store, filter, signal))
    return csvFile({ name: 'audit-log', workspaceId, nowMs: clock.nowMs(), signal, rows })
  },
})

const operatorLog = defineRoute({
  ...operators,
  method: 'GET',
  path: '/operator/audit-log',
  query: Type.Object({ ...CursorQuery, ...OPERATOR_FILTERS }),
  success: page,
  summary: 'Who did what, in every workspace and to the installation, newest first',
  examples,
  handler: async ({ query }, { store }) => {
    const { rows, total } = await auditPage(store, filterOf(query), partOf(query, cursorOf(query)))
    return cursorPageOf(rows.map(auditBody), total, query, lastOf(rows))
  },
})

const operatorLogFile = defineRoute({
  ...operators,
  method: 'GET',
  path: '/operator/audit-log/export-csv',
  audit: [],
  query: Filters,
  success: file,
  summary: 'Who did what, in every workspace and to the installation, as a CSV file, newest first',
  handler: ({ query, user, signal }, { store, clock }) => {
    const rows = () => csvOf(eachAuditEntry(store, filterOf(query), signal))
    return csvFile({ name: 'audit-log', workspaceId: user.id, nowMs: clock.nowMs(), signal, rows })
  },
})

export const auditLogRoutes = [log, logFile, operatorLog, operatorLogFile]

function filterOf({ workspace_id, actor_id, action, resource, ...span }: Static<typeof Filters>): AuditFilter {
  return {
    workspaceId: workspace_id,
    actorId: actor_id,
    action,
    resource: resource?.replace(/\/+$/, ''),
    start: span.start_date === undefined ? undefined : parseInstant(span.start_date),
    end: span.end_date === undefined ? undefined : parseInstant(span.end_date),
  }
}

const COLUMNS = [
  'id',
  'at',
  'workspace_id',
  'actor_kind',
  'actor_id',
  'actor_name',
  'action',
  'resource',
  'detail',
  'address',
  'request_id',
] as const

async function* csvOf(entries: AsyncIterable<readonly AuditRow[]>): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`
  for await (const rows of entries) yield rows.map((row) => csvRecord(cellsOf(row), new Set())).join('')
}

function cellsOf(entry: AuditRow): Cell[] {
  const { actor, detail, ...rest } = auditBody(entry)
  const row: Readonly<Record<(typeof COLUMNS)[number], Cell>> = {
    ...rest,
    actor_kind: actor.kind,
    actor_id: actor.id,
    actor_name: actor.name,
    detail: JSON.stringify(detail),
  }
  return COLUMNS.map((name) => row[name])
}
