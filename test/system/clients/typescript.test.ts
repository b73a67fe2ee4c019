import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { compilerSays, GENERATORS, runTypescript, writeDocument } from '../../support/generators/generate.ts'
import { PROGRAMS } from '../../support/generators/programs.ts'
import { clientWorld } from '../../support/generators/world.ts'
import { testFolder } from '../../support/instance/services.ts'

for (const generator of ['openapi-typescript', 'hey-api', 'orval'] as const) {
  t.test(`a client by ${generator} compiles strictly and works with an API key`, { timeout: 600_000 }, async (t) => {
    const { url, key, madeAsSaid } = await clientWorld(t)
    const folder = await testFolder(t)
    await writeDocument(url, folder)
    await GENERATORS[generator]?.(folder)
    await writeFile(join(folder, 'program.ts'), PROGRAMS[generator])
    if (!t.equal(await compilerSays(folder), '')) return
    await madeAsSaid(t, await runTypescript(folder, [url, key]))
  })
}
