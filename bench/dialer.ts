/**
 * The dialer at work, on a Postgres and a Redis of its own with simulated callees: what a pick and a status cost while five calls a
 * seat are live, how many seats are in use beside a ratio of 1 and how many callees were abandoned, whether anybody was called who may
 * not be, how fast a file of prospects is loaded beside `psql \copy`, and how fairly campaigns share seats.
 *
 *     npm run bench -- dialer [--long] [--pieces=pacing,upload,fairness] [--prospects=20000] [--seats=50] [--seconds=40]
 *
 * `--long`: a million prospects on 250 seats. Ends with 1 where a target is missed.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureFairness } from './dialer/fairness.ts'
import { measurePacing } from './dialer/pacing.ts'
import { measureUpload } from './dialer/upload.ts'
import { startWorld } from './dialer/world.ts'

const PIECES = ['pacing', 'upload', 'fairness'] as const

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      long: { type: 'boolean', default: false },
      pieces: { type: 'string', default: PIECES.join() },
      prospects: { type: 'string' },
      seats: { type: 'string' },
      seconds: { type: 'string' },
      warm: { type: 'string' },
    },
  })
  const size = (name: 'prospects' | 'seats' | 'seconds' | 'warm', short: number, long: number) => {
    const value = Number(values[name] ?? (values.long ? long : short))
    if (!Number.isInteger(value) || value < 1)
      throw new Error(`--${name} must be a whole number from 1, not "${values[name]}"`)
    return value
  }
  const prospects = size('prospects', 20_000, 1_000_000)
  const seats = size('seats', 50, 250)
  const seconds = size('seconds', 40, 90)
  const warmS = size('warm', 40, 60)
  const pieces = values.pieces.split(',')
  const unknown = pieces.find((piece) => !PIECES.some((one) => one === piece))
  if (unknown !== undefined) throw new Error(`--pieces names some of ${PIECES.join()}, not "${unknown}"`)
  for (const piece of PIECES) {
    if (!pieces.includes(piece)) continue
    const folder = await mkdtemp(join(tmpdir(), 'patchbay-bench-'))
    const world = await startWorld(folder)
    try {
      const met =
        piece === 'pacing'
          ? await measurePacing(world, { prospects, seats, warmS, seconds })
          : piece === 'upload'
            ? await measureUpload(world, folder, prospects)
            : await measureFairness(world, { seats, warmS, seconds })
      if (!met) process.exitCode = 1
    } finally {
      await world.stop()
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    }
  }
}
