/**
 * `npm run fuzz -- [surface…] [--minutes=5] [--seed=N]`: attacks an installation of its own through each surface for so long, and prints
 * what it saw. Exits with 1 where a process ended or hung, a loop stood, another tenant noticed or memory stayed.
 */
import { parseArgs } from 'node:util'
import { fuzz } from './fuzz.ts'
import { SURFACES } from './surfaces.ts'
import { BUSY_MACHINE, QUIET_MACHINE } from './watch.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    'busy-machine': { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)
const names = SURFACES.map(({ name }) => name)
const unknown = positionals.filter((name) => !names.includes(name))
if (!(minutes > 0) || !Number.isSafeInteger(seed) || unknown.length > 0) {
  process.stderr.write(
    `Usage: npm run fuzz -- [surface…] [--minutes=5] [--seed=N] [--busy-machine]\nSurfaces: ${names.join(', ')}\n`,
  )
  process.exit(2)
}
const surfaces = positionals.length === 0 ? SURFACES : SURFACES.filter(({ name }) => positionals.includes(name))
const say = (line: string) => void process.stdout.write(`${line}\n`)
say(`Seed ${seed}, ${minutes} min for each of ${surfaces.length} surfaces`)
const limits = values['busy-machine'] ? BUSY_MACHINE : QUIET_MACHINE
const failures = await fuzz({ surfaces, seed, seconds: minutes * 60, limits, memory: true, say })
say(failures.length === 0 ? 'Nothing was seen that must not be' : failures.join('\n'))
process.exit(failures.length === 0 ? 0 : 1)
