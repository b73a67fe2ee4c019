import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generateApi } from 'swagger-typescript-api'
import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { testFolder } from '../../../support/instance/services.ts'

/** Uses the generated client as its users would. A line that must not compile says so, and fails the build if it does. */
const PROGRAM = `
import { Api } from './client'

async function main([baseUrl, cookie]: string[]) {
  const api = new Api({ baseUrl, baseApiParams: { headers: { cookie: cookie! } } })
  const agent = (await api.agents.createAgent({ agent_name: 'Ada', system_prompt: 'You answer.' })).data
  const temperature: number = agent.temperature
  const number = (await api.phoneNumbers.createPhoneNumber({
    phone_number: '+14155550100', provider: 'sim', agent_id: agent.agent_id })).data.phone_number
  const file = new File(['phone_number\\n+14155550199\\n'], 'numbers.csv')
  const form = { file, name: 'March', agent_id: agent.agent_id, agent_phone_number: number }
  const rows: number = (await api.batch.createBatch(form)).data.counts.total
  const logs = (await api.calls.listCalls({ page: 1, call_type: 'web' })).data
  const { token } = (await api.calls.generateToken({ agent_id: agent.agent_id })).data
  const missing = await api.calls.getCall(agent.agent_id).catch((answer) => answer)
  console.log(JSON.stringify({ temperature, rows, total: logs.total, token, detail: missing.error.detail }))

  // @ts-expect-error a required field is missing
  const incomplete = () => api.agents.createAgent({ agent_name: 'Ada' })
  // @ts-expect-error there is no such type of call
  const misspelled = () => api.calls.listCalls({ call_type: 'fax' })
  // @ts-expect-error a duration is a number or null
  const duration: string | undefined = logs.items[0]?.duration
  void [incomplete, misspelled, duration]
}
main(process.argv.slice(2)).catch((answer) => {
  throw new Error(\`\${answer.url} answered \${answer.status} \${JSON.stringify(answer.error)}\`)
})
`

t.test('a client generated from /openapi.json compiles and works', { timeout: 600_000 }, async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const folder = await testFolder(t)
  const spec = (await api.client().get('/openapi.json')).body
  await generateApi({ spec, output: folder, fileName: 'client.ts', silent: true, generateUnionEnums: true })
  const client = await readFile(join(folder, 'client.ts'), 'utf8')
  t.match(client, '// @ts-nocheck')
  await writeFile(join(folder, 'client.ts'), client.replace('// @ts-nocheck', ''))
  await writeFile(join(folder, 'program.ts'), PROGRAM)

  const require = createRequire(import.meta.url)
  const tsc = join(require.resolve('typescript/package.json'), '../bin/tsc')
  const types = join(require.resolve('@types/node/package.json'), '../..')
  // Without the hooks that a test runner puts into NODE_OPTIONS of everything it sees spawned.
  const node = (args: string[]) =>
    promisify(execFile)('env', ['-u', 'NODE_OPTIONS', process.execPath, ...args], { cwd: folder })
  const options = ['--strict', '--target', 'es2022', '--module', 'commonjs', '--lib', 'es2022,dom', '--outDir', folder]
  const found = ['--typeRoots', types, '--types', 'node', join(folder, 'program.ts')]
  const compiled = await node([tsc, ...options, ...found]).catch((error) => error)
  const { code = 0, stdout: said, stderr: complained } = compiled
  if (!t.same([code, said, complained], [0, '', ''], 'compiles without a word')) return

  const cookie = [...ada.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const { stdout } = await node([join(folder, 'program.js'), api.url, cookie])
  t.match(JSON.parse(stdout), { rows: 1, total: 0, token: /^[\w-]{20,}$/, detail: 'Call log not found' })
})
