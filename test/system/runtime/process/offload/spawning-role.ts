/** A process that has a program started, and tells its pid; `deaf`: that it asked for it, and takes in nothing from then on. */
import { startProgram } from '../../../../../runtime/process/offload/spawner.ts'

const args = ['-c', 'exec sleep 1000']
const started = startProgram({ program: '/bin/sh', args, variables: {}, pipes: 3, niceness: 0 })
if (process.argv[2] === 'deaf') {
  process.send?.(process.pid)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0)
}
const { pid } = await started
process.send?.(pid)
setInterval(() => {}, 1_000)
