import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Which Patchbay this is. */
interface BuildInfo {
  readonly version: string
  /** Of git, 12 digits; `unknown` where there is neither a checkout nor the image's file. */
  readonly commit: string
}

const ROOT = resolve(import.meta.dirname, '../..')
let known: BuildInfo | undefined

/** Read once: what runs stays what was started. */
export function buildInfo(): BuildInfo {
  known ??= readBuildInfo(ROOT)
  return known
}

export function readBuildInfo(root: string): BuildInfo {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  // The image has no .git: its build writes the file.
  const commit = read(join(root, 'COMMIT')) ?? commitOf(join(root, '.git'))
  return { version, commit: /^[0-9a-f]{40}/.test(commit ?? '') ? (commit ?? '').slice(0, 12) : 'unknown' }
}

function commitOf(path: string): string | undefined {
  // A further worktree has a file that names its folder.
  const pointer = /^gitdir: (.+)$/m.exec(read(path) ?? '')?.[1]
  const folder = pointer === undefined ? path : resolve(path, '..', pointer)
  const head = read(join(folder, 'HEAD'))
  const ref = /^ref: (\S+)$/m.exec(head ?? '')?.[1]
  if (ref === undefined) return head
  const common = resolve(folder, read(join(folder, 'commondir')) ?? '.')
  const packed = read(join(common, 'packed-refs'))
  return (
    read(join(folder, ref)) ??
    read(join(common, ref)) ??
    packed
      ?.split('\n')
      .find((line) => line.endsWith(` ${ref}`))
      ?.slice(0, 40)
  )
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
