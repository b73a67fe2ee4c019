import {
  type AliasNode,
  BinaryOperationNode,
  ColumnNode,
  IdentifierNode,
  type Kysely,
  type KyselyPlugin,
  OnNode,
  type OperationNode,
  OperatorNode,
  ReferenceNode,
  TableNode,
  ValueNode,
  WhereNode,
} from 'kysely'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { AllTables, GlobalTables, TenantTables } from './schema.ts'

/**
 * Tenancy by construction. A tenant handle rewrites every query before it is compiled: each tenant table it names, in a
 * join or a subquery too, gets `workspace_id = <its workspace>`, and each inserted row gets that workspace. What can't be
 * bound (`merge`, `insert … select`, raw SQL that names a tenant table without the workspace's id among its own
 * parameters) throws, so forgetting is loud.
 */

/** A database whose every query is bound to one workspace. */
type TenantDatabase = Kysely<AllTables>

export interface Tenant {
  readonly workspaceId: string
  readonly db: TenantDatabase
}

/** Record, not array: a table of TenantTables that is missing here is a type error. */
const TENANT_TABLES: Readonly<Record<keyof TenantTables, true>> = {
  campaigns: true,
  campaign_runs: true,
  campaign_days: true,
  prospect_lists: true,
  prospect_uploads: true,
  prospect_rejects: true,
  prospects: true,
  prospect_counts: true,
  campaign_call_counts: true,
  prospect_attempts: true,
  do_not_call: true,
  batches: true,
  batch_items: true,
  api_keys: true,
  workspace_provider_keys: true,
  idempotency_keys: true,
  agents: true,
  agent_versions: true,
  phone_numbers: true,
  trunks: true,
  extensions: true,
  call_ladders: true,
  refused_calls: true,
  calls: true,
  call_turns: true,
  call_events: true,
  call_shares: true,
  documents: true,
  uploads: true,
  upload_parts: true,
  chunks: true,
  vector_segments: true,
  chats: true,
  chat_messages: true,
  chat_spending: true,
  workspace_events: true,
  webhooks: true,
  webhook_deliveries: true,
  call_analyses: true,
  agent_tests: true,
  test_runs: true,
  test_cases: true,
}
const NAMES = new Set<string>(Object.keys(TENANT_TABLES))
const RAW_MENTION = new RegExp(`\\b(from|join|into|update|using|table|,)\\s+"?(${[...NAMES].join('|')})\\b`, 'i')

type AnyNode = OperationNode & Readonly<Record<string, unknown>>

/** Binds every query of the returned handle to the workspace. Costs one walk over the query's tree. */
export function boundTo(db: Kysely<AllTables>, workspaceId: string): TenantDatabase {
  return db.withPlugin(new Rewriter(workspaceId))
}

/** A handle for global tables that refuses tenant tables at run time too, where a cast could have hidden them. */
export function globalOnly(db: Kysely<AllTables>): Kysely<GlobalTables> {
  return db.withPlugin(new Rewriter(undefined)) as unknown as Kysely<GlobalTables>
}

/** Queries that are bound already: one that is built through a handle and used within another query comes by twice. */
const bindings = new WeakMap<object, string | undefined>()

class Rewriter implements KyselyPlugin {
  readonly #workspaceId: string | undefined

  constructor(workspaceId: string | undefined) {
    this.#workspaceId = workspaceId
  }

  transformQuery<T extends OperationNode>({ node }: { node: T }): T {
    return this.#bind(node as unknown as AnyNode) as unknown as T
  }

  async transformResult<T>({ result }: { result: T }): Promise<T> {
    return result
  }

  /** Returns the node with everything below it bound; the same object when nothing changed. */
  #bind(node: AnyNode): AnyNode {
    if (bindings.has(node)) {
      if (bindings.get(node) !== this.#workspaceId) throw unbound('a query of another workspace within it')
      return node
    }
    const bound = this.#rewrite(node)
    if (node.kind.endsWith('QueryNode')) bindings.set(bound, this.#workspaceId)
    return bound
  }

  #rewrite(node: AnyNode): AnyNode {
    let bound = node
    for (const key in node) {
      const before = node[key]
      const after = isNode(before) ? this.#bind(before) : Array.isArray(before) ? this.#bindAll(before) : before
      if (after !== before) {
        if (bound === node) bound = { ...node }
        ;(bound as Record<string, unknown>)[key] = after
      }
    }
    switch (node.kind) {
      case 'SelectQueryNode':
        return this.#restrict(bound, tablesIn(bound.from))
      case 'UpdateQueryNode':
        return this.#restrict(refuseWorkspaceWrite(bound), [...tablesIn(bound.table), ...tablesIn(bound.from)])
      case 'DeleteQueryNode':
        return this.#restrict(bound, [...tablesIn(bound.from), ...tablesIn(bound.using)])
      case 'InsertQueryNode':
        return this.#fill(bound)
      case 'JoinNode':
        return this.#restrictJoin(bound)
      case 'MergeQueryNode':
        throw unbound('merge')
      case 'RawNode': {
        const text = (node.sqlFragments as readonly string[]).join(' ? ')
        if (RAW_MENTION.test(text) && !this.#isParameter(node.parameters)) throw unbound(text)
        return bound
      }
      default:
        return bound
    }
  }

  #bindAll(list: readonly unknown[]): readonly unknown[] {
    let copy: unknown[] | undefined
    for (let i = 0; i < list.length; i++) {
      const before = list[i]
      const after = isNode(before) ? this.#bind(before) : before
      if (after !== before) {
        copy ??= [...list]
        copy[i] = after
      }
    }
    return copy ?? list
  }

  #restrict(node: AnyNode, tables: readonly string[]): AnyNode {
    let where = node.where as WhereNode | undefined
    for (const table of tables) {
      const condition = this.#condition(table)
      where = where ? WhereNode.cloneWithOperation(where, 'And', condition) : WhereNode.create(condition)
    }
    return tables.length === 0 ? node : ({ ...node, where } as AnyNode)
  }

  #restrictJoin(node: AnyNode): AnyNode {
    let on = node.on as OnNode | undefined
    for (const table of tablesIn(node.table)) {
      if (on === undefined) throw unbound(`${String(node.joinType)} of "${table}" without a condition`)
      on = OnNode.cloneWithOperation(on, 'And', this.#condition(table))
    }
    return on === node.on ? node : ({ ...node, on } as AnyNode)
  }

  #fill(node: AnyNode): AnyNode {
    const [table] = tablesIn(node.into)
    if (table === undefined) return node
    const workspaceId = this.#required(table)
    const columns = (node.columns ?? []) as readonly ColumnNode[]
    const values = node.values as AnyNode | undefined
    if (columns.some((column) => column.column.name === 'workspace_id')) throw unbound(`workspace_id of "${table}"`)
    if (values?.kind !== 'ValuesNode') throw unbound(`insert into "${table}" from a query`)
    const rows = (values.values as readonly AnyNode[]).map((row) => ({
      ...row,
      values: [
        ...(row.values as readonly unknown[]),
        row.kind === 'PrimitiveValueListNode' ? workspaceId : ValueNode.create(workspaceId),
      ],
    }))
    const conflict = node.onConflict as AnyNode | undefined
    const onConflict = conflict?.updates ? this.#restrictConflict(conflict, table) : conflict
    return {
      ...node,
      columns: [...columns, ColumnNode.create('workspace_id')],
      values: { ...values, values: rows },
      onConflict,
    } as AnyNode
  }

  /** A row of another workspace that has the same key is left alone, and returns nothing. */
  #restrictConflict(node: AnyNode, table: string): AnyNode {
    const where = node.updateWhere as WhereNode | undefined
    const condition = this.#condition(table)
    return {
      ...node,
      updateWhere: where ? WhereNode.cloneWithOperation(where, 'And', condition) : WhereNode.create(condition),
    } as AnyNode
  }

  #isParameter(parameters: unknown): boolean {
    if (this.#workspaceId === undefined) return false
    return (parameters as readonly AnyNode[]).some(
      (node) => node.kind === 'ValueNode' && node.value === this.#workspaceId,
    )
  }

  #condition(table: string): OperationNode {
    return BinaryOperationNode.create(
      ReferenceNode.create(ColumnNode.create('workspace_id'), TableNode.create(table)),
      OperatorNode.create('='),
      ValueNode.create(this.#required(table)),
    )
  }

  #required(table: string): string {
    if (this.#workspaceId === undefined) throw unbound(`"${table}" through the global handle`)
    return this.#workspaceId
  }
}

/** Names (or aliases) under which the tenant tables of a from, using or table position are known. */
function tablesIn(position: unknown): string[] {
  if (!isNode(position)) return []
  if (position.kind === 'TableNode') {
    const { name } = (position as unknown as TableNode).table.identifier
    return NAMES.has(name) ? [name] : []
  }
  if (position.kind === 'AliasNode') {
    const { node, alias } = position as unknown as AliasNode
    const tables = node.kind === 'TableNode' ? tablesIn(node) : []
    return tables.length > 0 && IdentifierNode.is(alias) ? [alias.name] : tables
  }
  if (position.kind === 'FromNode') return (position.froms as unknown[]).flatMap(tablesIn)
  if (position.kind === 'UsingNode') return (position.tables as unknown[]).flatMap(tablesIn)
  if (position.kind === 'ListNode') return (position.items as unknown[]).flatMap(tablesIn)
  return []
}

function refuseWorkspaceWrite(node: AnyNode): AnyNode {
  for (const update of (node.updates ?? []) as readonly AnyNode[]) {
    const column = update.column as AnyNode
    if (column.kind === 'ColumnNode' && (column as unknown as ColumnNode).column.name === 'workspace_id') {
      if (tablesIn(node.table).length > 0) throw unbound('an update of workspace_id')
    }
  }
  return node
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string'
}

function unbound(what: string): PatchbayError {
  const reason = `Query can't be bound to a workspace: ${what}; use store.tenant(id) with the query builder`
  return new PatchbayError('internal', { cause: new Error(reason) })
}
