import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { findServiceProgram } from '../../../store/embedded/service-user.ts'
import { type Teardown, testFolder } from '../../support/instance/services.ts'

const RUN = join(import.meta.dirname, '../../../scripts/run.sh')

/** A machine with Node 22, the shell's usual programs and nothing else. */
async function bareMachine(t: Teardown, programs: Record<string, string> = {}, script = RUN) {
  const bin = join(await testFolder(t), 'bin')
  await mkdir(bin)
  for (const name of ['sh', 'dirname', 'id', 'cat', 'mkdir', 'rm', 'chmod', 'basename']) {
    await symlink(findServiceProgram(name, ['/bin', '/usr/bin'].join(delimiter)) ?? '', join(bin, name))
  }
  await symlink(process.execPath, join(bin, 'node'))
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(bin, name), 0o755)
  }
  const run = async (...args: string[]) => {
    const env = { PATH: bin, HOME: bin, PATCHBAY_ENV_FILE: 'none' }
    try {
      return { code: 0, ...(await promisify(execFile)('/bin/sh', [script, ...args], { env })) }
    } catch (error) {
      return error as { code: number; stdout: string; stderr: string }
    }
  }
  return { bin, run }
}

t.test('what is missing and cannot be installed is named in one sentence', async (t) => {
  const { run } = await bareMachine(t)
  const { code, stderr } = await run('start')
  t.equal(code, 1)
  t.match(stderr, /^patchbay: please install redis-server \(Debian, Ubuntu: sudo apt-get install redis-server; .*\n$/)
})

const debianRoot = process.getuid?.() === 0 && findServiceProgram('apt-get', process.env.PATH) !== undefined
t.test(
  'root on Debian gets it installed, each said in a line',
  { skip: !debianRoot && 'not root on Debian' },
  async (t) => {
    const machine = await bareMachine(t, {
      'redis-server': '',
      sipp: '',
      baresip: '',
      kamailio: '',
      promtool: '',
      pgbouncer: '',
      'redis-sentinel': '',
      nginx: '',
      haproxy: '',
      caddy: '',
      chromium: '',
      'firefox-esr': '',
      pulseaudio: '',
      'apt-get': 'echo "$*" >>"$HOME/apt.log"; cp "$HOME/redis-server" "$HOME/espeak-ng"',
    })
    await symlink('/bin/cp', join(machine.bin, 'cp'))
    const { code, stdout, stderr } = await machine.run('test', 'test/unit/scripts/configuration-table.test.ts')
    t.match(stderr, 'Installing the system package espeak-ng\n')
    t.match(await readFile(join(machine.bin, 'apt.log'), 'utf8'), /install .*--no-install-recommends espeak-ng\n/)
    t.match(stdout, /\n[1-9]\d* passed, 0 failed\n$/)
    t.equal(code, 0)
  },
)

t.test('Node 24 and 26 are used where the binaries of the HTTP library load, and no other Node but 22', async (t) => {
  for (const [version, loads, isUsed] of [
    ['v22.18.0', false, true],
    ['v22.17.1', true, false],
    ['v23.11.0', true, false],
    ['v24.4.0', true, true],
    ['v24.4.0', false, false],
    ['v26.0.0', true, true],
    ['v27.0.0', true, false],
  ] as const) {
    const node = `case $1 in --version) echo ${version} ;; -e) exit ${loads ? 0 : 1} ;; esac`
    const { bin, run } = await bareMachine(t)
    await rm(join(bin, 'node'))
    await symlink(findServiceProgram('sed', ['/bin', '/usr/bin'].join(delimiter)) ?? '', join(bin, 'sed'))
    await writeFile(join(bin, 'node'), `#!/bin/sh\n${node}\n`, { mode: 0o755 })
    const { stderr } = await run('start')
    t.match(
      stderr,
      isUsed ? 'please install redis-server' : 'install Node 22 from https://nodejs.org',
      `${version} ${loads}`,
    )
  }
})

t.test('packages are installed by an npm that is older than some of them want', async (t) => {
  const checkout = await testFolder(t)
  await mkdir(join(checkout, 'scripts'))
  const script = join(checkout, 'scripts/run.sh')
  await copyFile(RUN, script)
  // What npm 9 of Debian 13 does with a package of development that wants npm 10: .npmrc of the checkout is strict.
  const npm = 'case "$*" in *--engine-strict=false*) : >"$HOME/installed" ;; *) echo EBADENGINE >&2; exit 1 ;; esac'
  const machine = await bareMachine(t, { npm, 'redis-server': '', 'espeak-ng': '' }, script)
  await rm(join(machine.bin, 'node'))
  const node =
    'case $1 in --version) echo v22.18.0 ;; *packages-current.ts) [ -e "$HOME/installed" ] || echo ci ;; *demo.ts) echo runs ;; esac'
  await writeFile(join(machine.bin, 'node'), `#!/bin/sh\n${node}\n`, { mode: 0o755 })
  const { code, stdout, stderr } = await machine.run('demo')
  t.equal(code, 0, stderr)
  t.equal(stdout, 'runs\n')
})

t.test('the table of the statements needs no package', async (t) => {
  const { run } = await bareMachine(t)
  const { code, stdout, stderr } = await run('statements')
  t.equal(code, 0, stderr)
  t.match(stdout, /\n\d+ statements, \d+ without a test by nature\n$/)
})

t.test('an unknown command is answered with the known ones', async (t) => {
  const { run } = await bareMachine(t)
  const { code, stderr } = await run('strat')
  t.equal(code, 1)
  t.match(
    stderr,
    'start|test|demo|kill-workers|campaign-day|kill-campaign|chaos|large|roll|bench|fuzz|statements|provider-currency|patchbay',
  )
})
