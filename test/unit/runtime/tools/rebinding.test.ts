import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { test } from 'tap'
import type { Rebound } from '../../../support/sip/rebinding.ts'

const run = promisify(execFile)
const TIMEOUT_MS = 120_000
/** Stands for a host of the internet: it leads nowhere but into the network that is made for this test. */
const PUBLIC = '93.184.215.14'
const PRIVATE = '127.0.0.1'

/** Runs a script in a network and a file system of its own, whose names come from a server on port 53 there. */
const within = (script: string, args: readonly string[]) =>
  run('unshare', ['--user', '--map-root-user', '--mount', '--net', 'sh', '-ec', script, 'sh', ...args], {
    timeout: TIMEOUT_MS,
  })
const NETWORK = `ip link set lo up; ip address add ${PUBLIC}/32 dev lo; mount --bind "$1" /etc/resolv.conf`

const folder = await mkdtemp(join(tmpdir(), 'patchbay-names-'))
const resolver = join(folder, 'resolv.conf')
await writeFile(resolver, 'nameserver 127.0.0.1\noptions timeout:20 attempts:1\n')
/** Why no network of its own can be made here: containers may not, as a rule. */
const skip = await within(NETWORK, [resolver]).then(
  () => false,
  ({ message }: Error) => message,
)
t.teardown(() => rm(folder, { recursive: true }))

test('a name that leads elsewhere from one query to the next leads to no private address', { skip }, async (t) => {
  const program = join(import.meta.dirname, '../../../support/sip/rebinding.ts')
  const script = `${NETWORK}; shift; exec "$@"`
  const { stdout } = await within(script, [resolver, process.execPath, program, PUBLIC, PRIVATE])
  const results: Rebound[] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.strictSame(results, [
    // What was checked is what is connected to: a second query would have led inside.
    { name: 'rebound.example', came: [PUBLIC, 'ForbiddenAddress', 'ForbiddenAddress'], asked: 3 },
    { name: 'always.example', came: ['ForbiddenAddress'], asked: 1 },
    { name: 'never.example', came: [PUBLIC, PUBLIC], asked: 2 },
    { name: 'public.example', came: ['ForbiddenAddress'], asked: 1 },
    // Where a connection is kept, nobody asks again.
    { name: 'kept.example', came: [PUBLIC, PUBLIC, PUBLIC], asked: 1 },
  ])
})
