import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beyondBounds } from '../../runtime/lib/json-bounds.ts'
import { fileText, refuse, writeWhole } from '../agent-files/folder.ts'
import { AGENTS, withoutDefaults } from '../agent-files/kinds.ts'
import { managedFileText } from '../agent-files/managed-file.ts'
import { importElevenlabs } from './elevenlabs.ts'
import { ExportReader, type ReportLine } from './export-reader.ts'
import type { ImportedAgent } from './imported-agent.ts'
import { importRetell } from './retell.ts'
import { importVapi } from './vapi.ts'

/** `patchbay import vapi|retell|elevenlabs FILE`: agents of other products as files. */

const PRODUCTS: Readonly<Record<string, (root: ExportReader) => ImportedAgent[]>> = {
  vapi: importVapi,
  retell: importRetell,
  elevenlabs: importElevenlabs,
}
const MAX_BYTES = 16 << 20
const BOUNDS = { depth: 64, parts: 200_000 }
const REPORT_FILE = 'import-report.md'
const PROVIDERS = ['LLM_provider', 'LLM_model', 'STT_provider', 'STT_model', 'TTS_provider', 'TTS_voice']
const NO_COUNTERPART = 'Patchbay has no such setting'

/** Writes the files and their report; throws PatchbayError `configuration` for what is no export. Never overwrites a file. */
export async function runImport(
  [product = '', file, into = '.', ...more]: readonly string[],
  { resolve, defaults }: { resolve(path: string): string; defaults: boolean },
): Promise<string> {
  const importer = PRODUCTS[product]
  if (importer === undefined || file === undefined || more.length > 0) {
    refuse(['Usage: patchbay import vapi|retell|elevenlabs <export.json> [folder] [--defaults]'])
    return ''
  }
  const folder = resolve(into)
  const root = new ExportReader(await readExport(resolve(file)))
  const lines = root.lines
  const agents = importer(root)
  if (agents.length === 0 || !root.isMapped) refuse([`${file}: holds no agent as ${product} exports it`])
  root.rest(NO_COUNTERPART)
  const written: string[] = []
  for (const agent of agents) {
    const path = `agents/${agent.name}.md`
    if ((await fileText(folder, path)) !== undefined) refuse([`${path} is there already: import into another folder`])
  }
  for (const agent of agents) {
    const fields = agent.finished()
    if (defaults) for (const field of PROVIDERS) delete fields[field]
    const path = `agents/${agent.name}.md`
    await writeWhole(folder, path, managedFileText(withoutDefaults(fields, AGENTS), AGENTS))
    written.push(path)
  }
  await writeWhole(folder, REPORT_FILE, reportText(product, file, written, lines))
  const taken = lines.filter(({ to }) => to !== undefined).length
  const left = lines.length - taken
  return [
    ...written.map((path) => `wrote ${path}`),
    `${taken} settings taken, ${left} left out: see ${join(into, REPORT_FILE)}`,
  ].join('\n')
}

async function readExport(path: string): Promise<unknown> {
  const status = await lstat(path).catch(() => undefined)
  if (status === undefined || !status.isFile()) refuse([`${path}: is no file`])
  if ((status?.size ?? 0) > MAX_BYTES) refuse([`${path}: is larger than ${MAX_BYTES >> 20} MiB`])
  const text = await readFile(path, 'utf8')
  const beyond = beyondBounds(text, BOUNDS)
  if (beyond !== undefined) refuse([`${path}: is nested too deeply or has too many parts`])
  try {
    return JSON.parse(text)
  } catch (error) {
    refuse([`${path}: is no JSON (${error instanceof Error ? error.message : String(error)})`])
    return undefined
  }
}

function reportText(product: string, file: string, written: readonly string[], lines: readonly ReportLine[]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
  const sorted = lines.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const taken = sorted.filter(({ to }) => to !== undefined)
  const left = sorted.filter(({ to }) => to === undefined)
  return `# Import of ${file} from ${product}

Written: ${written.join(', ')}. \`patchbay plan\` checks the files, \`patchbay apply\` makes the agents.

## Not taken

| in the export | why |
|---|---|
${left.map(({ path, why }) => `| \`${cell(path)}\` | ${cell(why ?? '')} |`).join('\n')}

## Taken

| in the export | in the file | to know |
|---|---|---|
${taken.map(({ path, to, why }) => `| \`${cell(path)}\` | ${cell(to ?? '')} | ${cell(why ?? '')} |`).join('\n')}
`
}
