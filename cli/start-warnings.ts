import { readFile } from 'node:fs/promises'
import type { RoleName } from '../config/effective.ts'

/** Each call, request and file takes one; the units and the image have 65,536. */
const LEAST_OPEN_FILES = 4_096
/** A worker's conversations share one event loop: beyond it, callers wait for each other. */
const MOST_PER_WORKER = 100

interface Machine {
  readonly roles: readonly RoleName[]
  readonly selfContained: boolean
  readonly workerCapacity: number
  /** What `ulimit -n` says; undefined where it is not known. */
  readonly openFiles: number | undefined
}

/** What will go wrong under load with these settings on this machine, each with its cure. */
export function startWarnings({ roles, selfContained, workerCapacity, openFiles }: Machine): string[] {
  const warnings: string[] = []
  if (openFiles !== undefined && openFiles < LEAST_OPEN_FILES) {
    warnings.push(
      `The process may have ${openFiles} files and sockets open, which a few hundred calls take: raise the limit to 65536 (ulimit -n, LimitNOFILE of systemd, ulimits of Docker)`,
    )
  }
  if ((roles.includes('voice') || selfContained) && workerCapacity > MOST_PER_WORKER) {
    warnings.push(
      `PATCHBAY_WORKER_CAPACITY is ${workerCapacity}, and the calls of a worker share one core: above ${MOST_PER_WORKER} audio is lost. Start more workers of 20 to 40 instead`,
    )
  }
  return warnings
}

/** The soft limit of this process, which Linux alone tells. */
export async function openFilesLimit(limits = '/proc/self/limits'): Promise<number | undefined> {
  const text = await readFile(limits, 'utf8').catch(() => '')
  const found = /^Max open files\s+(\d+)/m.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}
