import { randomBytes } from 'node:crypto'

/** Two containers may share a host's name and number their processes alike; no two processes share a name. */
export function workerName(host: string, pid: number): string {
  const readable = host.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 40)
  return `${readable}-${pid}-${randomBytes(6).toString('hex')}`
}
