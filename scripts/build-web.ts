/**
 * Builds packages/web into its `dist`: the library, the React hook, the widget and the sound worklet. Does nothing where that is
 * there and newer than its sources. `--types`: its type declarations, too, for publishing.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { PluginBuild } from 'esbuild'
import { isClientBuilt } from './web-built.ts'

const root = join(import.meta.dirname, '../packages/web')

if (!isClientBuilt()) {
  // Not before: where nothing has to be built it may be missing.
  const { build } = await import('esbuild')
  const common = { bundle: true, minify: true, target: 'es2022', logLevel: 'warning' } as const
  const { outputFiles } = await build({
    ...common,
    entryPoints: [join(root, 'src/worklet.ts')],
    format: 'iife',
    write: false,
  })
  const define = { WORKLET_SOURCE: JSON.stringify(outputFiles[0]!.text), CLIENT_PATH: '""' }
  const from = (path: string) => ({ entryPoints: [join(root, 'src', path)] })
  /** What shares its package with the library leaves it there: one of it in a page, however many of them a page uses. */
  const besideLibrary = {
    name: 'beside-library',
    setup: ({ onResolve }: PluginBuild) =>
      onResolve({ filter: /\/(?:patchbay-call|more-words)\.ts$/ }, ({ path }) => ({
        path: path.includes('more-words') ? './more-words.js' : './mod.js',
        external: true,
      })),
  }
  const to = (file: string) => ({ outfile: join(root, 'dist', file) })
  await Promise.all([
    build({ ...common, ...from('worklet.ts'), ...to('worklet.js'), format: 'iife' }),
    build({ ...common, ...from('mod.ts'), ...to('mod.js'), format: 'esm', define }),
    build({ ...common, ...from('widget/more-words.ts'), ...to('more-words.js'), format: 'esm' }),
    build({
      ...common,
      ...from('react.ts'),
      ...to('react.js'),
      format: 'esm',
      define,
      external: ['react'],
      plugins: [besideLibrary],
    }),
    build({
      ...common,
      ...from('widget/mod.ts'),
      ...to('widget-module.js'),
      format: 'esm',
      define,
      plugins: [besideLibrary],
    }),
    // As a script of a server it has the library beside it, and the worklet: many pages allow no blob: scripts.
    build({
      ...common,
      ...from('widget/mod.ts'),
      ...to('widget.js'),
      format: 'iife',
      define: { WORKLET_SOURCE: '""', CLIENT_PATH: '"/client/v1/patchbay.js"' },
    }),
  ])
}

if (process.argv.includes('--types')) {
  const tsc = join(import.meta.dirname, '../node_modules/typescript/bin/tsc')
  const args = ['-p', root, '--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', 'dist/types']
  const { status } = spawnSync(process.execPath, [tsc, ...args], { cwd: root, stdio: 'inherit' })
  process.exitCode = status ?? 1
}
