import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readBuildInfo } from '../../../../runtime/process/build-info.ts'
import { testFolder } from '../../../support/instance/services.ts'

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
    cwd,
    encoding: 'utf8',
  }).trim()

t.test(
  'version and commit are those of the checkout, of a further worktree, of packed refs and of the image',
  async (t) => {
    const root = join(await testFolder(t), 'checkout')
    await mkdir(root)
    await writeFile(join(root, 'package.json'), await readFile('package.json'))
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    t.same(readBuildInfo(root), { version, commit: 'unknown' })
    git(root, 'init', '-q')
    git(root, 'add', '.')
    git(root, 'commit', '-qm', 'one')
    const commit = git(root, 'rev-parse', 'HEAD').slice(0, 12)
    t.same(readBuildInfo(root), { version, commit })
    git(root, 'worktree', 'add', '-q', '../further')
    t.equal(readBuildInfo(join(root, '../further')).commit, commit)
    git(root, 'pack-refs', '--all')
    t.equal(readBuildInfo(root).commit, commit)
    t.equal(readBuildInfo(join(root, '../further')).commit, commit)
    git(root, 'checkout', '-q', '--detach')
    t.equal(readBuildInfo(root).commit, commit)
    await writeFile(join(root, 'COMMIT'), `${'a'.repeat(40)}\n`)
    t.equal(readBuildInfo(root).commit, 'a'.repeat(12))
  },
)
