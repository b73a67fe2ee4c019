import { AdmissionGate } from '../runtime/admission/gate.ts'
import { Reply } from './route.ts'

/** Exports at once on this node; one workspace leaves places to others. */
const exporting = new AdmissionGate({ kind: 'export', places: 8, mostOfOne: 2, maxWaiting: 64 })

interface CsvFile {
  /** Of the file, before the day. */
  readonly name: string
  /** Whose turn it is among those who export at once. */
  readonly workspaceId: string
  readonly nowMs: number
  readonly signal: AbortSignal
  /** The file in pieces. */
  rows(): AsyncGenerator<string>
}

/** An answer that is saved as `name-2026-01-31.csv`. */
export function csvFile({ name, workspaceId, nowMs, signal, rows }: CsvFile): Reply {
  const day = new Date(nowMs).toISOString().slice(0, 10)
  return new Reply({
    stream: exporting.pass({ workspaceId }, rows, signal),
    headers: [
      ['content-type', 'text/csv; charset=utf-8'],
      ['content-disposition', `attachment; filename="${name}-${day}.csv"`],
    ],
  })
}
