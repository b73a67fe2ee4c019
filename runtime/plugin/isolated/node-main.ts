/**
 * The program that Node runs for a plugin with native code. Native libraries write to standard output as they like, so the
 * pipe back is a descriptor of its own.
 */
import { createWriteStream } from 'node:fs'
import { run } from './runner.ts'

/** The descriptor of the pipe to the role. */
const BACK_FD = 3

const back = createWriteStream('', { fd: BACK_FD })
back.on('error', () => process.exit(0))

await run({
  read: process.stdin,
  write: (bytes) =>
    new Promise((resolve) => {
      // A copy: the stream keeps what it is given until it is written.
      if (back.write(Uint8Array.from(bytes))) resolve(bytes.length)
      else back.once('drain', () => resolve(bytes.length))
    }),
})
process.exit(0)
