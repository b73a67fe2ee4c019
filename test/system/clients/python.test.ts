import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { runProgram, writeDocument } from '../../support/generators/generate.ts'
import { pythonTools } from '../../support/generators/python.ts'
import { PYTHON_PROGRAMS } from '../../support/generators/python-programs.ts'
import { clientWorld } from '../../support/generators/world.ts'
import { testFolder } from '../../support/instance/services.ts'

const tools = await pythonTools()
const options = { timeout: 600_000, ...(tools.reason === undefined ? {} : { skip: tools.reason }) }
const python = join(tools.bin ?? '', 'python')

/** Sounds and captures are files; the generator knows no more types of content than it is told. */
const CONFIG = `
content_type_overrides:
  audio/wav: application/octet-stream
  application/vnd.tcpdump.pcap: application/octet-stream
  "*/*": application/octet-stream
project_name_override: client
package_name_override: patchbay_client
post_hooks: []
`

t.test('a client by openapi-python-client has every operation and works with an API key', options, async (t) => {
  const { url, key, madeAsSaid } = await clientWorld(t)
  const folder = await testFolder(t)
  await writeDocument(url, folder)
  await writeFile(join(folder, 'config.yaml'), CONFIG)
  const generate = [
    'generate',
    '--path',
    'openapi.json',
    '--config',
    'config.yaml',
    '--meta',
    'none',
    '--fail-on-warning',
  ]
  await runProgram(python, ['-m', 'openapi_python_client', ...generate, '--output-path', 'patchbay_client'], folder)
  await writeFile(join(folder, 'program.py'), PYTHON_PROGRAMS['openapi-python-client'])
  await runProgram(python, ['-m', 'mypy', '--strict', '--follow-imports=silent', 'program.py'], folder)
  await madeAsSaid(t, JSON.parse(await runProgram(python, ['program.py', url, key], folder)))
})
