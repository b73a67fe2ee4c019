import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { compilerSays, runProgram, runTypescript, writeDocument } from '../../support/generators/generate.ts'
import { PROGRAMS } from '../../support/generators/programs.ts'
import { pythonTools } from '../../support/generators/python.ts'
import { PYTHON_PROGRAMS } from '../../support/generators/python-programs.ts'
import { clientWorld } from '../../support/generators/world.ts'
import { testFolder } from '../../support/instance/services.ts'

/** The generator is a Java program; a Python package carries it. */
const hasJava = await promisify(execFile)('java', ['-version']).then(
  () => true,
  () => false,
)
const tools = hasJava ? await pythonTools() : { reason: 'java is missing; apt-get install default-jre-headless' }
const options = { timeout: 600_000, ...(tools.reason === undefined ? {} : { skip: tools.reason }) }
const python = join(tools.bin ?? '', 'python')

const WHERE = 'import openapi_generator_cli as cli; print(cli.__path__[0])'

async function generate(folder: string, language: string): Promise<void> {
  const carrier = (await runProgram(python, ['-c', WHERE], folder)).trim()
  const jar = join(carrier, 'openapi-generator.jar')
  await runProgram('java', ['-jar', jar, 'generate', '-i', 'openapi.json', '-g', language, '-o', language], folder)
}

t.test('a client in TypeScript by openapi-generator compiles strictly and works', options, async (t) => {
  const { url, key, madeAsSaid } = await clientWorld(t)
  const folder = await testFolder(t)
  await writeDocument(url, folder)
  await generate(folder, 'typescript-fetch')
  await writeFile(join(folder, 'program.ts'), PROGRAMS['typescript-fetch'])
  if (!t.equal(await compilerSays(folder), '')) return
  await madeAsSaid(t, await runTypescript(folder, [url, key]))
})

t.test('a client in Python by openapi-generator can be imported whole and works', options, async (t) => {
  const { url, key, madeAsSaid } = await clientWorld(t)
  const folder = await testFolder(t)
  await writeDocument(url, folder)
  await generate(folder, 'python')
  await writeFile(join(folder, 'python/program.py'), PYTHON_PROGRAMS['openapi-generator'])
  const printed = await runProgram(python, ['-W', 'ignore', 'program.py', url, key], join(folder, 'python'))
  await madeAsSaid(t, JSON.parse(printed))
})
