import { readFileSync } from 'node:fs'

/**
 * Preloaded by `node --import`: the wall clock of the process is ahead of the machine's by as many milliseconds as the file TEST_CLOCK_FILE
 * says at the moment. Durations are as they are.
 */
const file = process.env.TEST_CLOCK_FILE ?? ''
const READ_EVERY_MS = 100
const machineNow = Date.now
let aheadMs = 0
let readAtMs = Number.NEGATIVE_INFINITY

function now(): number {
  const atMs = performance.now()
  if (atMs - readAtMs > READ_EVERY_MS) {
    readAtMs = atMs
    aheadMs = Number(readFileSync(file, 'utf8'))
  }
  return machineNow() + aheadMs
}

Date.now = now
globalThis.Date = new Proxy(Date, {
  apply: () => new Date(now()).toString(),
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [now()] : args, made),
})
