import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { PatchbayError } from '../../runtime/lib/errors.ts'

/**
 * Lets a process of another user through the folders that root alone may enter. access(2), which initdb asks, forgets
 * capabilities of other users unless no_setuid_fixup is set.
 */
const OVERRIDE = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--securebits=+no_setuid_fixup']

/** Who a private service runs as when this process is root: PostgreSQL refuses root. */
export interface ServiceUser {
  uid: number
  gid: number
  /** The user may not enter a parent of the data folder or of the programs (a checkout under /root). */
  needsOverride: boolean
}

/**
 * Chooses the user of the private services: undefined (this process's own) unless it is root; then the owner of the
 * data that are there, or `nobody`.
 */
export async function chooseServiceUser(
  dataFolder: string,
  programs: readonly string[],
): Promise<ServiceUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const owner = await stat(dataFolder).catch(() => undefined)
  const { uid, gid } = owner !== undefined && owner.uid !== 0 ? owner : await lookUpNobody()
  const reachable = await Promise.all([dataFolder, ...programs].map((path) => mayEnter(dirname(path), uid, gid)))
  return { uid, gid, needsOverride: reachable.includes(false) }
}

async function lookUpNobody(): Promise<{ uid: number; gid: number }> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '')
  const [, , uid, gid] = passwd.match(/^nobody:.*$/m)?.[0].split(':') ?? []
  if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  const reason =
    'PostgreSQL does not run as root and there is no user "nobody"; start as another user or set DATABASE_URL.'
  throw new PatchbayError('configuration', { params: { reason } })
}

async function mayEnter(folder: string, uid: number, gid: number): Promise<boolean> {
  for (let path = folder; ; path = dirname(path)) {
    const found = await stat(path).catch(() => undefined)
    if (found !== undefined) {
      const bit = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001
      if ((found.mode & bit) === 0) return false
    }
    if (path === dirname(path)) return true
  }
}

/** The full path of a program on `searchPath`, or undefined. */
export function findServiceProgram(name: string, searchPath: string | undefined): string | undefined {
  for (const folder of (searchPath ?? '').split(delimiter)) {
    if (folder === '') continue
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not in this folder.
    }
  }
  return undefined
}

interface SpawnService {
  program: string
  args: readonly string[]
  user: ServiceUser | undefined
  /** Sent by the kernel when this process dies, so that no orphan survives a kill -9 (Linux). */
  deathSignal: 'SIGINT' | 'SIGTERM'
  searchPath: string | undefined
}

/**
 * Starts a private service in a session of its own: a terminal's Ctrl-C reaches the supervisor alone, which stops
 * services after those who use them. util-linux' setpriv changes the user and asks for the death signal.
 */
export function spawnService({ program, args, user, deathSignal, searchPath }: SpawnService): ChildProcess {
  const env = { LC_ALL: 'C', PATH: searchPath }
  const options = { env, cwd: '/', detached: true, stdio: ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'] }
  const setpriv = process.platform === 'linux' ? findServiceProgram('setpriv', searchPath) : undefined
  if (setpriv === undefined) {
    if (user?.needsOverride) {
      const reason = `The user that runs PostgreSQL instead of root may not enter this folder; move the checkout and PATCHBAY_DATA_DIR out of ${dirname(program)}, or set DATABASE_URL.`
      throw new PatchbayError('configuration', { params: { reason } })
    }
    return spawn(program, args, { ...options, ...(user && { uid: user.uid, gid: user.gid }) })
  }
  const become = user ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'] : []
  const override = user?.needsOverride ? OVERRIDE : []
  return spawn(setpriv, [...become, ...override, '--pdeathsig', deathSignal, '--', program, ...args], options)
}
