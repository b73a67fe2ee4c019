import { createRequire } from 'node:module'

// Node does not find the class among the names of this CommonJS module, and its types say otherwise.
const { SonicBoom } = createRequire(import.meta.url)('sonic-boom') as typeof import('sonic-boom')

/** Lines that wait for a reader who stands; later ones are dropped. */
const MAX_WAITING_BYTES = 16 << 20
/** A full pipe is tried again every 100 ms, so often once the process ends. */
const LAST_TRIES = 20

let output: { write(line: string): void } | undefined

/**
 * Standard output for lines of the log, written beside the loop; what waits when the process ends is written then. A reader that stands or is
 * gone holds up neither calls nor the end of the process.
 */
export function logOutput(): { write(line: string): void } {
  output ??= openOutput()
  return output
}

function openOutput(): { write(line: string): void } {
  let triesLeft = Number.POSITIVE_INFINITY
  let isGone = false
  const retryEAGAIN = (): boolean => triesLeft-- > 0
  const stream = new SonicBoom({ fd: 1, sync: false, maxLength: MAX_WAITING_BYTES, retryEAGAIN })
  // A full disk may have room again: what waits is tried with the next line.
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    isGone ||= code === 'EPIPE'
  })
  process.on('exit', () => {
    if (isGone) return
    triesLeft = LAST_TRIES
    try {
      stream.flushSync()
    } catch {
      // Nobody reads it.
    }
  })
  return {
    write(line) {
      if (!isGone) stream.write(line)
    },
  }
}
