/** What one workspace may have at once; null: no limit of its own. */
export interface WorkspaceQuotas {
  /** Phone calls, in and out. */
  callsAtOnce: number | null
  webSessionsAtOnce: number | null
  /** Nothing begins, whatever the rest says; calls that run go on. */
  closed?: 'maintenance'
}

/**
 * Where quotas come from. It is asked at each decision and keeps nothing, so that a raised quota reaches calls that
 * wait; store/workspaces/quotas.ts answers from the tables that workspace and operator write.
 */
export interface QuotaSource {
  ofWorkspace(workspaceId: string): Promise<WorkspaceQuotas>
  /** Of several at once, by id. */
  ofWorkspaces(workspaceIds: readonly string[]): Promise<ReadonlyMap<string, WorkspaceQuotas>>
  /** Phone calls that a number of the workspace may have at once; null: any number. */
  ofNumber(workspaceId: string, number: string): Promise<number | null>
}
