import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../../scripts/demo/free-port.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { startTestJobs } from '../../support/instance/jobs.ts'
import { until } from '../../support/instance/realtime-node.ts'

const ROOT = join(import.meta.dirname, '../../..')

t.test('the receiver of docs/events.md takes what is sent', async (t) => {
  const text = readFileSync(join(ROOT, 'docs/events.md'), 'utf8')
  const [, code = ''] = /^```js\n(.*?)^```$/ms.exec(text) ?? []
  t.ok(code.trim().split('\n').length <= 10, 'in ten lines')
  const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1' } })
  await startTestJobs(t, api)
  const user = await api.signUp()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const { body: webhook } = await user.client.post('/webhooks', { body: { url, types: ['call.*'] } })
  const receiver = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, WEBHOOK_SECRET: webhook.secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => receiver.kill())
  let printed = ''
  receiver.stdout.on('data', (chunk) => {
    printed += chunk
  })
  const { body: agent } = await user.client.post('/agents', {
    body: { agent_name: 'Ava', system_prompt: 'You are Ava.' },
  })
  await until(async () => receiver.exitCode !== null || (await listening(port)))
  const { body: session } = await user.client.get('/calls/generate-token', { query: { agent_id: agent.agent_id } })
  await until(
    () => printed.includes(`call.queued ${session.call_log_id}`),
    () => printed,
  )
})

async function listening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const open = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false)
  socket.destroy()
  return open
}
