import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { dialAgent, finishedLog, makeAgent } from '../../../scripts/demo/call.ts'
import { Conversation } from '../../../scripts/demo/conversation.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { testFolder } from '../../support/instance/services.ts'
import { startDoubles } from '../../support/providers/doubles/start.ts'
import { hurry } from '../../support/world/hurry.ts'

const QUESTION = 'What time do you open on Saturday?'
const LIMIT_MS = 300_000

t.test('three keys in .env, an agent with a name and a prompt: a call', async (t) => {
  const { doubles, env, stop } = await startDoubles()
  t.teardown(stop)
  const names = ['ANTHROPIC', 'ELEVENLABS', 'DEEPGRAM'].flatMap((name) => [`${name}_API_KEY`, `${name}_BASE_URL`])
  const file = join(await testFolder(t), '.env')
  await writeFile(file, names.map((name) => `${name}=${env[name]}\n`).join(''))
  const instance = await startInstance(t, { PATCHBAY_ENV_FILE: file })
  t.match(
    instance.output(),
    'New agents think with Anthropic (its key is set), listen with Deepgram (its key is set) and speak with ElevenLabs (its key is set)',
  )

  hurry()
  const signal = AbortSignal.timeout(LIMIT_MS)
  const { rest, agentId } = await makeAgent(instance.url, {
    agent_name: 'Shop',
    system_prompt: 'You answer for a shop. On Saturday it opens at nine.',
    first_message: 'Hello!',
  })
  const { caller, callLogId } = await dialAgent(rest, agentId, signal)
  t.teardown(() => caller.vanish())
  const conversation = new Conversation(caller, () => {}, signal)
  await conversation.greeting()
  const { heard } = await conversation.ask({ text: QUESTION, expects: 'nine' })
  t.equal(heard, QUESTION)
  await conversation.agentDone()
  await caller.hangUp(signal)
  const log = await finishedLog(rest, callLogId, signal)
  t.match(log, { status: 'completed', end_reason: 'caller_hangup' })
  t.match(log.transcript.at(-1), { role: 'assistant', text: /nine/ })
  t.ok(doubles.anthropic.requests.includes('POST /v1/messages'))
  t.ok(doubles.deepgram.requests.includes('UPGRADE /v1/listen'))
  t.ok(doubles.elevenlabs.requests.some((asked) => /^UPGRADE .*multi-stream-input$/.test(asked)))
  t.notMatch(instance.output(), env.ANTHROPIC_API_KEY, 'no key is logged')
})
