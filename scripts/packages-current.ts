/**
 * Exits 0 when node_modules holds exactly what package-lock.json says for this machine, 1 when `npm ci` is due. npm
 * writes node_modules/.package-lock.json last, so an interrupted installation counts as none.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface LockedPackage {
  version?: string
  link?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
}

const root = join(import.meta.dirname, '..')

function readPackages(path: string): Record<string, LockedPackage> {
  return (JSON.parse(readFileSync(join(root, path), 'utf8')) as { packages: Record<string, LockedPackage> }).packages
}

function isCurrent(): boolean {
  if (!existsSync(join(root, 'node_modules/.package-lock.json'))) return false
  const locked = readPackages('package-lock.json')
  const installed = readPackages('node_modules/.package-lock.json')
  for (const [path, { version }] of Object.entries(installed)) {
    if (locked[path]?.version !== version) return false
  }
  for (const [path, { optional }] of Object.entries(locked)) {
    if (path !== '' && optional !== true && installed[path] === undefined) return false
  }
  // npm leaves this one out when it ran under another Node than ours.
  const server = `node_modules/@uwsjs/${process.platform}-${process.arch}-22`
  return locked[server] === undefined || installed[server] !== undefined
}

process.exit(isCurrent() ? 0 : 1)
