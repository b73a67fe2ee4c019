import { watch } from 'node:fs'
import { boundary } from '../../lib/async/boundary.ts'

/** Editors write a file in several steps. */
const SETTLED_AFTER_MS = 200
const LEFT_OUT = /(^|[\\/])(node_modules|\.git)([\\/]|$)/

/** Calls `changed` after files of a folder have changed, until the signal aborts. Packages in it are no part of that. */
export function watchFolder(folder: string, changed: () => void, signal: AbortSignal): void {
  let timer: NodeJS.Timeout | undefined
  const settled = boundary('plugin', changed)
  const watcher = watch(folder, { recursive: true, signal, persistent: false })
  watcher.on('error', () => undefined)
  watcher.on(
    'change',
    boundary('plugin', (_type: string, file: string | Buffer | null) => {
      if (LEFT_OUT.test(String(file))) return
      clearTimeout(timer)
      timer = setTimeout(settled, SETTLED_AFTER_MS).unref()
    }),
  )
}
