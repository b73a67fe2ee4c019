import type { SecretBox } from '../runtime/lib/secret-box.ts'
import { webhookSecrets } from '../runtime/webhooks/signature.ts'
import type { SealedPlace } from '../store/database/sealed-values.ts'
import { providerKeySecrets } from '../workers/provider-keys.ts'
import { labelOfTools } from './agents/tool-headers.ts'
import { extensionSecrets } from './extensions/book.ts'
import { toolSecrets } from './tools/tool-calls.ts'
import { keyLabel, trunkSecrets } from './trunks/book.ts'

/** A column that holds secrets sealed under PATCHBAY_DATA_KEY. */
export interface SealedColumn extends SealedPlace {
  box(dataKey: string): SecretBox
  /** What a secret of the row is sealed under. */
  label(row: { key: string; workspaceId: string }): string
  /** Of a column of JSON: the value with each sealed text in it replaced. Absent: the column is a sealed text itself. */
  replaced?(value: unknown, by: (sealed: string) => string): unknown
}

const ofRow = ({ key }: { key: string }): string => key

/** Every column in which anything is sealed; a new data key seals all of them anew. */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  { table: 'trunks', column: 'password', key: 'id', box: trunkSecrets, label: ofRow },
  { table: 'trunks', column: 'tls_key', key: 'id', box: trunkSecrets, label: ({ key }) => keyLabel(key) },
  { table: 'extensions', column: 'password', key: 'id', box: extensionSecrets, label: ofRow },
  {
    ...{ table: 'provider_keys', column: 'value', key: 'id', isOfInstallation: true },
    ...{ box: providerKeySecrets, label: ofRow },
  },
  { table: 'workspace_provider_keys', column: 'value', key: 'id', box: providerKeySecrets, label: ofRow },
  { table: 'webhooks', column: 'secret', key: 'id', box: webhookSecrets, label: ofRow },
  { table: 'webhooks', column: 'old_secret', key: 'id', box: webhookSecrets, label: ofRow },
  {
    ...{ table: 'phone_numbers', column: 'inbound_webhook_secret', key: 'phone_number' },
    ...{ box: webhookSecrets, label: ofRow },
  },
  {
    ...{ table: 'agents', column: 'tools', key: 'id', box: toolSecrets },
    label: ({ workspaceId }) => labelOfTools(workspaceId),
    paths: ['$[*].http.headers.*', '$[*].headers.*'],
    replaced: (tools, by) => (tools as readonly StoredTool[]).map((tool) => toolWith(tool, by)),
  },
  {
    ...{ table: 'agent_versions', column: 'content', key: 'id', box: toolSecrets },
    label: ({ workspaceId }) => labelOfTools(workspaceId),
    paths: ['$.tools[*].http.headers.*', '$.tools[*].headers.*'],
    replaced: (content, by) => {
      const version = content as { tools: readonly StoredTool[] }
      return { ...version, tools: version.tools.map((tool) => toolWith(tool, by)) }
    },
  },
]

interface StoredTool {
  http?: { headers?: Record<string, string> }
  headers?: Record<string, string>
}

function toolWith(tool: StoredTool, by: (sealed: string) => string): StoredTool {
  const headersWith = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).map(([name, sealed]) => [name, by(sealed)]))
  return {
    ...tool,
    ...(tool.headers === undefined ? {} : { headers: headersWith(tool.headers) }),
    ...(tool.http?.headers === undefined ? {} : { http: { ...tool.http, headers: headersWith(tool.http.headers) } }),
  }
}
