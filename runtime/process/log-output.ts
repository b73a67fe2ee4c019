import sonicBoom from 'sonic-boom'

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
  const stream = new sonicBoom.SonicBoom({ fd: 1, sync: false, maxLength: MAX_WAITING_BYTES, retryEAGAIN })
  stream.on('error', () => {
    isGone = true
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
