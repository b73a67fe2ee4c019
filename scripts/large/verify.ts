import { join } from 'node:path'
import { onOwnDatabase } from '../../bench/support/own-database.ts'
import { makeEventPartitions } from '../../store/calls/call-events.ts'
import { runMain } from '../../test/support/instance/instance.ts'
import { connectAdmin } from '../../test/support/world/password-role.ts'
import { fillCalls } from './fill.ts'

const MB = 1e6
const AGENT = `
  with w as (insert into workspaces (id, name, slug, type) values (gen_random_uuid(), 'Large', 'large', 'business') returning id)
  insert into agents (id, workspace_id, agent_name, llm_provider, llm_model, temperature, system_prompt, first_message, stt_provider,
    stt_model, tts_provider, tts_voice)
  select gen_random_uuid(), id, 'Ava', 'sim', '', 0, 'You answer.', 'Hi.', 'sim', '', 'sim', '' from w returning id`

/** Backs up many calls and verifies the backup while nothing else runs. Resolves with what is not as it should be. */
export async function verifyLarge(options: { calls: number; say(line: string): void }): Promise<string[]> {
  const { calls, say } = options
  return onOwnDatabase({}, async ({ store, databaseUrl, folder }) => {
    await makeEventPartitions(store, Date.now())
    const admin = await connectAdmin(databaseUrl)
    try {
      const made = await admin.query<{ id: string }>(AGENT)
      await fillCalls(admin, { agentId: made.rows[0]?.id ?? '', calls, say })
      const { rows } = await admin.query<{ bytes: string }>('select pg_database_size(current_database()) as bytes')
      say(`${calls} calls, ${Math.round(Number(rows[0]?.bytes) / MB)} MB`)
    } finally {
      await admin.end()
    }
    const env = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: 'redis://127.0.0.1:1',
      JWT_API_SECRET: 'j'.repeat(32),
      PATCHBAY_DATA_KEY: 'd'.repeat(32),
      PATCHBAY_DATA_DIR: join(folder, 'data'),
    }
    const file = join(folder, 'large.tar.gz')
    for (const command of ['backup', 'verify']) {
      const startedMs = performance.now()
      const { code, stdout, stderr } = await runMain([command, file], env)
      if (code !== 0) return [`${command} ended with ${code}: ${stderr.slice(-2_000)}`]
      say(
        `${command} took ${((performance.now() - startedMs) / 1_000).toFixed(1)} s: ${stdout.trim().split('\n').at(-1)}`,
      )
    }
    return []
  })
}
