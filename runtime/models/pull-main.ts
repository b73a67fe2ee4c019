import { installEngine } from './engine.ts'
import type { PullOrder, PullReport } from './model-downloads.ts'
import { pullModel } from './pull.ts'

/** A process of its own that downloads models: the connections of an api node are guarded. It ends with its order or its parent. */

const stop = new AbortController()
process.once('disconnect', () => process.exit())
process.once('message', (order: PullOrder) => {
  carryOut(order).then(
    () => report({ type: 'done' }),
    (error: unknown) => report({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
  )
})

async function carryOut({ dataDir, hub, plugin, engine, entries }: PullOrder): Promise<void> {
  let bytesBefore = 0
  if (engine !== undefined) {
    await installEngine(dataDir, plugin, engine, stop.signal)
    bytesBefore += engine.megabytes * 1e6
    report({ type: 'progress', bytes: bytesBefore })
  }
  for (const entry of entries) {
    const ofBytes = entry.megabytes * 1e6
    const progress = (bytes: number, ofAll: number): void =>
      report({ type: 'progress', bytes: bytesBefore + ofBytes * (bytes / Math.max(1, ofAll)) })
    await pullModel(entry, { dataDir, plugin, hub, signal: stop.signal, progress })
    bytesBefore += ofBytes
  }
}

function report(message: PullReport): void {
  process.send?.(message)
  if (message.type !== 'progress') process.disconnect()
}
