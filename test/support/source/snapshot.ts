import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'

const FOLDER = join(import.meta.dirname, '../../contract/snapshots')

/**
 * Compares what users read with what is kept in test/contract/snapshots, line by line. A change on purpose is written there by
 * `UPDATE_SNAPSHOTS=1 npm test <file>`, and seen in the review of the commit.
 */
export async function matchesSnapshot(t: Test, name: string, text: string): Promise<void> {
  const file = join(FOLDER, name)
  if (process.env.UPDATE_SNAPSHOTS === '1') {
    await mkdir(FOLDER, { recursive: true })
    await writeFile(file, text)
  }
  const kept = await readFile(file, 'utf8').catch(() => '')
  const [before, after] = [kept.split('\n'), text.split('\n')]
  const gone = before.filter((line) => !after.includes(line))
  const added = after.filter((line) => !before.includes(line))
  t.same({ gone, added }, { gone: [], added: [] }, `${name} is as kept`)
  t.ok(kept === text || gone.length + added.length > 0, `${name} has its lines in order`)
}

/** One line for each leaf of a JSON document, with its path: what differs between two documents is a few lines. */
export function leavesOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${path} ${JSON.stringify(value)}`]
  const entries = Object.entries(value)
  if (entries.length === 0) return [`${path} ${Array.isArray(value) ? '[]' : '{}'}`]
  return entries.flatMap(([name, item]) => leavesOf(item, `${path}/${name}`))
}
