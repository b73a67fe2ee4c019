import { mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { joinSignals } from '../lib/async/join-signals.ts'
import { PatchbayError } from '../lib/errors.ts'
import type { ModelEntry } from './catalogue.ts'
import { download } from './download.ts'
import { type HubFile, listFiles } from './hub.ts'
import { modelLock, modelsFolder } from './lock.ts'

/** Small files of a model that are fetched side by side. */
const AT_ONCE = 4
/** Left free on the disk. */
const SPARE_BYTES = 100 * 2 ** 20

interface PullOptions {
  dataDir: string
  plugin: string
  hub: string
  signal: AbortSignal
  /** How much of how many bytes is there. */
  progress(bytes: number, ofBytes: number): void
}

/**
 * Downloads a model, and pins what came in models.lock.json. What is there already is kept, what was begun is gone on with.
 * Returns its size in bytes. Throws `plugin` with a sentence.
 */
export async function pullModel(entry: ModelEntry, options: PullOptions): Promise<number> {
  const { dataDir, plugin, hub, signal } = options
  const { revision, files } = await listFiles(hub, entry.repository, signal)
  const wanted = wantedFiles(entry, files)
  const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0)
  const folder = join(modelsFolder(dataDir, plugin), entry.id)
  await mkdir(folder, { recursive: true })
  await requireSpace(folder, total)
  const done = new Map<string, number>()
  const give = (file: HubFile, bytes: number): void => {
    done.set(file.path, bytes)
    options.progress(
      [...done.values()].reduce((sum, one) => sum + one, 0),
      total,
    )
  }
  const queue = [...wanted]
  const stop = new AbortController()
  const both = joinSignals(signal, stop.signal)
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const one = file
      await download(one, { to: join(folder, one.path), signal: both, progress: (bytes) => give(one, bytes) })
    }
  })
  try {
    await Promise.all(workers)
  } catch (error) {
    stop.abort()
    await Promise.allSettled(workers)
    throw error
  }
  const lock = await modelLock.read(dataDir)
  const pinned = wanted.map(({ path, bytes, digest }) => [path, { bytes, digest }] as const)
  lock.models[`${plugin}/${entry.id}`] = {
    repository: entry.repository,
    revision,
    license: entry.license,
    files: Object.fromEntries(pinned),
  }
  await modelLock.write(dataDir, lock)
  return total
}

/** Removes a model and all that was begun of it. False: it was not there. */
export async function removeModel(dataDir: string, plugin: string, id: string): Promise<boolean> {
  const lock = await modelLock.read(dataDir)
  const key = `${plugin}/${id}`
  const folder = join(modelsFolder(dataDir, plugin), id)
  const wasThere = lock.models[key] !== undefined || (await readdir(folder).catch(() => [])).length > 0
  // Remove the lock entry first: a partial model must not count as installed.
  if (lock.models[key] !== undefined) {
    delete lock.models[key]
    await modelLock.write(dataDir, lock)
  }
  await rm(folder, { recursive: true, force: true })
  return wasThere
}

/** The files of the hub that a model's parts are. */
function wantedFiles({ id, parts, repository }: ModelEntry, files: readonly HubFile[]): HubFile[] {
  const found = Object.values(parts).map((part) => {
    const these = files.filter(({ path }) => (part.endsWith('/') ? path.startsWith(part) : path === part))
    if (these.length > 0) return these
    const reason = `${repository} holds no "${part}", which model "${id}" needs: it was changed since the list was written`
    throw new PatchbayError('plugin', { params: { reason } })
  })
  const safe = found.flat().filter(({ path }) => !path.split('/').includes('..') && !path.startsWith('/'))
  return [...new Map(safe.map((file) => [file.path, file])).values()]
}

async function requireSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  if (free > bytes + SPARE_BYTES) return
  const reason = `The model takes ${megabytes(bytes)}, and the disk of ${folder} has ${megabytes(free)} left; make room or set PATCHBAY_DATA_DIR to another disk`
  throw new PatchbayError('plugin', { params: { reason } })
}

/** As people read it. */
export function megabytes(bytes: number): string {
  const size = bytes / 1e6
  return size >= 10 ? `${Math.round(size)} MB` : `${size.toFixed(1)} MB`
}
