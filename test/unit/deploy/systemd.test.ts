import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { loadConfig } from '../../../config/load.ts'
import { SETTINGS } from '../../../config/schema.ts'
import { HIGHEST_PRIORITY } from '../../../runtime/process/realtime.ts'
import { testFolder } from '../../support/instance/services.ts'

const folder = join(import.meta.dirname, '../../../deploy/systemd')
const run = promisify(execFile)
const missing = await run('systemd-analyze', ['--version']).then(
  () => false as const,
  () => 'systemd-analyze is not installed',
)
const units = (await readdir(folder)).filter((name) => name.endsWith('.service'))

t.test('each unit runs a role, with settings there are, and waits for its calls', async (t) => {
  const known = new Set<string>(Object.values(SETTINGS).map(({ env }) => env))
  t.same(units.sort(), ['patchbay-api.service', 'patchbay-jobs.service', 'patchbay-voice@.service', 'patchbay.service'])
  for (const unit of units) {
    const text = await readFile(join(folder, unit), 'utf8')
    t.match(text, /^ExecStart=\/usr\/bin\/node (--\S+ )*main\.ts (start|api|jobs|voice)$/m, unit)
    t.match(text, /^ExecStartPre=\/usr\/bin\/node scripts\/check-node\.cjs$/m, `${unit} says which Node is needed`)
    const assigned = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, list = '']) => list.split(' '))
    for (const one of assigned) {
      const [name = ''] = one.split('=')
      t.ok(known.has(name) || name === 'NODE_ENV' || name === 'XDG_CACHE_HOME', `${unit}: ${name}`)
    }
    const own = assigned.find((one) => one.startsWith('PATCHBAY_DRAIN_MS='))?.split('=')[1]
    const drainMs = Number(own ?? loadConfig({}).drainMs)
    const stopS = Number(text.match(/^TimeoutStopSec=(\d+)$/m)?.[1])
    const realtime = Number(text.match(/^LimitRTPRIO=(\d+)$/m)?.[1] ?? 0)
    t.equal(
      realtime,
      unit === 'patchbay-jobs.service' ? 0 : HIGHEST_PRIORITY,
      `${unit}: audio may go before other work`,
    )
    t.ok(stopS * 1_000 > drainMs, `${unit}: ${stopS} s`)
  }
})

t.test('systemd finds no fault with the units', { skip: missing }, async (t) => {
  for (const unit of units) {
    const text = await readFile(join(folder, unit), 'utf8')
    const copy = join(await testFolder(t), unit.replace('@.', '@1.'))
    // What it would look for on the machine it is installed on.
    await writeFile(
      copy,
      text.replaceAll('/usr/bin/node', '/bin/true').replace(/^(User|EnvironmentFile|WorkingDirectory)=.*\n/gm, ''),
    )
    const { stderr } = await run('systemd-analyze', ['verify', '--man=no', copy]).catch((error) => error)
    const faults = String(stderr)
      .split('\n')
      .filter((line) => line.includes(unit.replace('@.', '@1.')))
    t.same(faults, [], unit)
  }
})

t.test('voice workers have a user, a cache and settings that no other role has', async (t) => {
  const of = async (unit: string, field: string): Promise<string> =>
    (await readFile(join(folder, unit), 'utf8')).match(new RegExp(`^${field}=(.*)$`, 'm'))?.[1] ?? ''
  for (const field of ['User', 'EnvironmentFile', 'CacheDirectory', 'Environment=XDG_CACHE_HOME']) {
    const voice = await of('patchbay-voice@.service', field)
    t.not(voice, '', field)
    for (const other of ['patchbay-api.service', 'patchbay-jobs.service']) t.not(await of(other, field), voice, field)
  }
  for (const unit of units.filter((name) => name !== 'patchbay.service')) {
    const text = await readFile(join(folder, unit), 'utf8')
    for (const line of ['NoNewPrivileges=true', 'CapabilityBoundingSet=', 'ProtectProc=invisible']) {
      t.ok(text.split('\n').includes(line), `${unit} ${line}`)
    }
  }
})
