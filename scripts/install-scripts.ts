/**
 * Runs the install scripts of the packages that need theirs: those which `allowScripts` of package.json says true for. All others
 * stay off, whatever npm's version makes of that field. To be run after `npm ci --ignore-scripts`. Then it removes the packages' source
 * maps: no role reads them, and they are a sixth of what `npm start` installs (98 of 609 MiB).
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The names to run, of those installed. */
export function scriptsToRun(
  allowed: Readonly<Record<string, boolean>>,
  isInstalled: (name: string) => boolean,
): string[] {
  return Object.keys(allowed).filter((name) => allowed[name] === true && isInstalled(name))
}

function removeSourceMaps(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) removeSourceMaps(path)
    else if (/\.[cm]?[jt]s\.map$/.test(entry.name)) rmSync(path)
  }
}

if (import.meta.main) {
  const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    allowScripts: Record<string, boolean>
  }
  const names = scriptsToRun(allowScripts, (name) => existsSync(join(root, 'node_modules', name)))
  if (names.length > 0) {
    const args = ['rebuild', '--ignore-scripts=false', '--no-audit', '--no-fund', '--loglevel=error', ...names]
    execFileSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] })
  }
  removeSourceMaps(join(root, 'node_modules'))
}
