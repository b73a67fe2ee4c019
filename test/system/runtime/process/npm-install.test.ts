import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { npmInstall } from '../../../../runtime/process/npm-install.ts'
import { testFolder } from '../../../support/instance/services.ts'
import { startNpmRegistry } from '../../../support/providers/doubles/downloads/npm-registry.ts'

/** A registry that has `tool` 1.0.0; what npm says of its digest. */
async function registryWith(t: Test): Promise<{ folder: string }> {
  const registry = await startNpmRegistry(t)
  const folder = await testFolder(t)
  mkdirSync(join(folder, 'tool'))
  writeFileSync(join(folder, 'tool/package.json'), JSON.stringify({ name: 'tool', version: '1.0.0' }))
  await registry.publish(join(folder, 'tool'))
  const { npm_config_registry, npm_config_cache } = process.env
  Object.assign(process.env, { npm_config_registry: registry.url, npm_config_cache: join(folder, 'cache') })
  t.teardown(() => {
    for (const [name, value] of Object.entries({ npm_config_registry, npm_config_cache })) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  return { folder }
}

t.test('a package is installed where it has the digest that is known of it, and nothing of it else', async (t) => {
  const { folder } = await registryWith(t)
  const wrong = `sha512-${'A'.repeat(86)}==`
  const into = join(folder, 'engine')
  await t.rejects(npmInstall(into, 'tool', { 'tool@1.0.0': wrong }), {
    message: /tool@1\.0\.0 came with another digest/,
  })
  t.notOk(existsSync(join(into, 'node_modules')), 'nothing of it stays')
  await t.rejects(npmInstall(into, 'tool', {}), { message: /there is no digest of tool/ })

  const digest = (
    await promisify(execFile)('npm', ['view', 'tool@1.0.0', 'dist.integrity'], { cwd: folder })
  ).stdout.trim()
  await npmInstall(into, 'tool', { 'tool@1.0.0': digest })
  t.match(JSON.parse(readFileSync(join(into, 'node_modules/tool/package.json'), 'utf8')), { version: '1.0.0' })
})
