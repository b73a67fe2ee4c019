import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { diagnoseProviders, runDoctor } from '../../../cli/doctor.ts'
import { PatchbayError } from '../../../runtime/lib/errors.ts'
import { ROOT } from '../../../runtime/plugin/host.ts'
import { testFolder } from '../../support/instance/services.ts'
import { deserted } from '../../support/providers/doubles/registry.ts'
import { DOUBLE_KEY, startDoubles } from '../../support/providers/doubles/start.ts'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)

const linesOf = async (environment: Record<string, string>) => {
  const { text, healthy } = await diagnoseProviders({ config: {}, env: environment })
  t.notMatch(text, new RegExp(DOUBLE_KEY), 'no key is shown')
  return {
    healthy,
    line: (name: string) => text.split('\n').find((line) => line.trimStart().startsWith(`${name} `)) ?? '',
  }
}

t.test('a provider that answers is shown with its latency, one that isn’t set up with its cure', async (t) => {
  const { OPENAI_API_KEY = '', OPENAI_BASE_URL = '' } = env
  const { healthy, line } = await linesOf({ OPENAI_API_KEY, OPENAI_BASE_URL })
  t.ok(healthy, 'what isn’t set up is no fault')
  t.match(line('openai'), /^openai +ok +\d+ ms +llm, realtime, stt, tts, embedding$/)
  t.match(line('deepgram'), /^ {2}deepgram +Deepgram can't be used: DEEPGRAM_API_KEY is not set/)
})

t.test('a refused key and a server that is away are faults', async (t) => {
  doubles.cartesia.faults.set({ kind: 'refuse', status: 503 }, 1)
  const { healthy, line } = await linesOf({
    ...env,
    DEEPGRAM_API_KEY: 'wrong',
    OPENAI_BASE_URL: `${await deserted()}/v1`,
  })
  t.notOk(healthy)
  t.match(line('deepgram'), /^deepgram +REFUSED +Deepgram refused the key \(401\); check DEEPGRAM_API_KEY/)
  t.match(
    line('openai'),
    /^openai +FAILED +OpenAI \(127\.0\.0\.1:\d+\) could not be reached or broke off \(ECONNREFUSED\)/,
  )
  t.match(line('cartesia'), /^cartesia +FAILED +Cartesia has a fault of its own \(503\)/)
})

t.test('a plugin that is broken is a fault', async (t) => {
  const settingsFile = join(await testFolder(t), 'plugins.json')
  await writeFile(settingsFile, JSON.stringify({ openai: { options: { ttsModle: 'x' } } }))
  const { text, healthy } = await diagnoseProviders({ config: {}, env: {}, settingsFile })
  t.notOk(healthy)
  t.match(text, /^openai +FAILED +Plugin "openai" has options that don't fit: \/ttsModle is unknown; correct them in /m)
})

t.test('an unknown topic is answered with the known ones', async (t) => {
  const failure = await runDoctor(['provider'], { config: {}, env: {} }).catch((error: unknown) => error)
  t.ok(failure instanceof PatchbayError && failure.code === 'configuration')
  t.match(failure, { message: /not "provider"; did you mean "providers"\?/ })
})

t.test('a model in use that ends is told sixty days before, and is a fault once it is gone', async (t) => {
  const settingsFile = join(await testFolder(t), 'plugins.json')
  const shipped = JSON.parse(await readFile(join(ROOT, 'config/plugins.json'), 'utf8')) as Record<string, object>
  await writeFile(
    settingsFile,
    JSON.stringify({ ...shipped, openai: { ...shipped.openai, grant: {}, options: { ttsModel: 'gpt-4o-mini-tts' } } }),
  )
  const at = (day: string) =>
    diagnoseProviders({ config: {}, env: { OPENAI_API_KEY: 'k' }, nowMs: Date.parse(`${day}T00:00:00Z`), settingsFile })
  t.match((await at('2026-11-26')).text, /models {2}ENDING +OpenAI switches "gpt-4o-mini-tts" off on 2027-01-06/)
  t.match((await at('2027-02-01')).text, /models {2}FAULT +OpenAI switched "gpt-4o-mini-tts" off on 2027-01-06/)
})
