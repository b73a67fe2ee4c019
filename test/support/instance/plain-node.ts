import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Teardown } from './services.ts'

/**
 * Has what this process starts as Node run as it does for an operator: tap has every child process load files of tap's own, by
 * NODE_OPTIONS, which a process that may read no others can't.
 */
export function usePlainNode(t: Teardown): void {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-node-'))
  const node = join(folder, 'node')
  writeFileSync(node, `#!/bin/sh\nunset NODE_OPTIONS\nexec '${process.execPath}' "$@"\n`)
  chmodSync(node, 0o755)
  const real = process.execPath
  process.execPath = node
  t.teardown(() => {
    process.execPath = real
    rmSync(folder, { recursive: true, force: true })
  })
}
