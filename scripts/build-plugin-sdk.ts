/** Builds packages/plugin, which plugins are written with, into its `dist`: JavaScript and type declarations, for publishing. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../packages/plugin')
const tsc = join(import.meta.dirname, '../node_modules/typescript/bin/tsc')
rmSync(join(root, 'dist'), { recursive: true, force: true })
const { status } = spawnSync(process.execPath, [tsc, '-p', root], { cwd: root, stdio: 'inherit' })
process.exitCode = status ?? 1
