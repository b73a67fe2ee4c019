import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../../..')
const read = (path: string) => readFile(join(ROOT, path), 'utf8')

/** The names and licences in the table below a heading. */
async function tableOf(heading: string): Promise<{ name: string; licence: string }[]> {
  const page = await read('docs/dependencies.md')
  const section = page.split(/^## /m).find((text) => text.startsWith(heading)) ?? ''
  const rows = [...section.matchAll(/^\| `([^`]+)` \|[^|]*\|[^|]*\| ([^|]+) \|/gm)]
  return rows.map(([, name = '', licence = '']) => ({ name, licence }))
}

for (const [heading, path, field] of [
  ['At run time', 'package.json', 'dependencies'],
  ['For the build of the console', 'web/console/package.json', 'dependencies'],
  ['For development', 'package.json', 'devDependencies'],
] as const) {
  t.test(`docs/dependencies.md names each of the ${field} of ${path}, and no other`, async (t) => {
    const packages: Record<string, Record<string, string>> = JSON.parse(await read(path))
    const names = (await tableOf(heading)).map(({ name }) => name)
    t.same(names.toSorted(), Object.keys(packages[field] ?? {}).toSorted())
  })

  t.test(`docs/dependencies.md has the licences that the ${field} of ${path} name themselves`, async (t) => {
    for (const { name, licence } of await tableOf(heading)) {
      t.equal(JSON.parse(await read(`node_modules/${name}/package.json`)).license, licence, name)
    }
  })
}
