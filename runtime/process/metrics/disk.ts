import { statfs } from 'node:fs/promises'
import { Gauge, type Registry } from 'prom-client'

/** How much room the file system of a folder has: recordings, the embedded database and backups end with it. */
export function measureDisk(registry: Registry, folder: string): void {
  const labelNames = ['folder']
  const free = new Gauge({
    name: 'patchbay_disk_free_bytes',
    help: 'Room that is left to the process where its data folder is',
    labelNames,
    registers: [registry],
    collect: () => read(),
  })
  const size = new Gauge({
    name: 'patchbay_disk_size_bytes',
    help: 'Size of the file system of the data folder',
    labelNames,
    registers: [registry],
    collect: () => read(),
  })
  const read = async (): Promise<void> => {
    const found = await statfs(folder).catch(() => undefined)
    if (found === undefined) return
    free.set({ folder }, found.bavail * found.bsize)
    size.set({ folder }, found.blocks * found.bsize)
  }
}
