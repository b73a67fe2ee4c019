/** A process that has a program started, and tells its pid. */
import { startProgram } from '../../../../runtime/plugin/isolated/spawner.ts'

const args = ['-c', 'exec sleep 1000']
const { pid } = await startProgram({ program: '/bin/sh', args, variables: {}, pipes: 3, niceness: 0 })
process.send?.(pid)
setInterval(() => {}, 1_000)
