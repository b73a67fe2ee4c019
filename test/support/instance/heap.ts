import { createReadStream } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { waitUntil } from '../world/wait-until.ts'

const WRITTEN_WITHIN_MS = 240_000
const OVERLAP_CHARS = 64

/** What processes are started with whose heap is looked into; snapshots go to `folder`, long strings in full. */
export const heapOptions = (folder: string): readonly string[] => [
  '--heapsnapshot-signal=SIGUSR2',
  `--diagnostic-dir=${folder}`,
  '--heap-snapshot-string-limit=1000000',
]

/** Collects the garbage of a process of `heapOptions`, and says whether a string of its heap matches. @param leak without the flag `g` */
export async function heapHolds(folder: string, pid: number, leak: RegExp): Promise<boolean> {
  const before = new Set(await readdir(folder))
  process.kill(pid, 'SIGUSR2')
  let path = ''
  await waitUntil(
    async () => {
      const name = (await readdir(folder)).find((file) => file.endsWith('.heapsnapshot') && !before.has(file))
      path = name === undefined ? '' : join(folder, name)
      return path !== '' && (await endOf(path)).trimEnd().endsWith(']}')
    },
    () => `the heap of process ${pid}`,
    { timeoutMs: WRITTEN_WITHIN_MS },
  )
  let tail = ''
  for await (const chunk of createReadStream(path, 'latin1')) {
    const text = tail + (chunk as string)
    if (leak.test(text)) return true
    tail = text.slice(-OVERLAP_CHARS)
  }
  return false
}

async function endOf(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, Math.max(0, size - 64))
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}
