import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { until } from '../../support/instance/realtime-node.ts'
import { testDataDir } from '../../support/instance/services.ts'
import { speechEngine } from '../../support/phone/speech-engine.ts'
import { startModelHub } from '../../support/providers/doubles/downloads/model-hub.ts'
import { espeakFiles, TINY_MODELS } from '../../support/providers/local-models.ts'

const engine = await speechEngine()
const LIMIT_MS = 120_000

interface Providers {
  providers: { provider: string; stt: { is_default: boolean } | null; health: { state: string } }[]
}
interface Models {
  download: { state: string; message: string | null } | null
  models: { model: string; here: boolean }[]
}

t.test(
  'an operator downloads speech in one click, and agents use it without a restart',
  { skip: withoutChromium || engine.skip },
  async (t) => {
    const hub = await startModelHub({
      'csukuangfj/sherpa-onnx-streaming-zipformer-en-2023-06-26': TINY_MODELS['zipformer-en']?.() ?? {},
      'csukuangfj/vits-piper-en_GB-alba-medium': { ...TINY_MODELS['piper-en-alba']?.(), ...espeakFiles() },
    })
    t.teardown(() => hub.stop())
    const dataDir = await testDataDir(t)
    engine.put(dataDir)
    const { url } = await startInstance(t, { PATCHBAY_MODEL_HUB: hub.url, PATCHBAY_DATA_DIR: dataDir })
    const open = await startBrowsers(t)
    const ada = userOf(url, 'ada@example.com')
    await ada.enter('Ada Lovelace')
    const { agent_id } = await ada.ask('POST', '/agents', {
      ...{ agent_name: 'Desk', system_prompt: 'You answer.', first_message: 'Hello!' },
    })
    const { context, page, faults, strays } = await open(url)
    await context.addCookies(ada.cookies())

    hub.faults.status = 503
    await page.goto(`${url}/console/`)
    await page.getByRole('heading', { name: 'Have your agents understand speech' }).waitFor()
    t.same(await axeFaults(page), [])
    const button = page.getByRole('button', { name: /^Download \d+ MiB/ })
    await button.click()
    await page.getByText(/503/).first().waitFor({ timeout: LIMIT_MS })
    delete hub.faults.status
    await button.click()
    const done = page.getByText('It is here. New agents listen and speak with it.')
    await done.waitFor({ timeout: LIMIT_MS })
    await page.getByRole('link', { name: 'Talk to Desk' }).first().waitFor()

    const { providers } = await ada.ask<Providers>('GET', '/providers')
    t.match(
      providers.find(({ provider }) => provider === 'local'),
      { stt: { is_default: true }, health: { state: 'ok' } },
    )
    const agentNow = () => ada.ask<{ STT_provider: string; TTS_provider: string }>('GET', `/agents/${agent_id}`)
    // The page gives it to the agent once it is here.
    await until(async () => (await agentNow()).STT_provider === 'local')
    t.match(
      await agentNow(),
      { STT_provider: 'local', TTS_provider: 'local' },
      'the agent that knew fixed sentences has it',
    )
    const { models } = await ada.ask<Models>('GET', '/operator/models')
    t.same(
      models.filter(({ here }) => here).map(({ model }) => model),
      ['zipformer-en', 'piper-en-alba'],
    )

    const eventsOf = async (call: string) => JSON.stringify(await ada.ask('GET', `/calls/${call}/events`))
    // A voice worker that ran before talks with it.
    const number = '+14155550100'
    await ada.ask('POST', '/phone-numbers', { phone_number: number, provider: 'sim', agent_id })
    const { call_log_id: id } = await ada.ask<{ call_log_id: string }>('POST', '/calls/outbound_call', {
      ...{ agent_phone_number: number, phone_number_to_dial: '+14155552000' },
    })
    const callOf = async () => (await ada.ask('GET', '/calls/logs')).items.find(({ call_log_id }) => call_log_id === id)
    await until(async () => ['in_progress', 'completed'].includes((await callOf())?.status ?? ''))
    let events = ''
    await until(
      async () => {
        events = await eventsOf(id)
        return /"spoken_at"|agent_|"said"/.test(events)
      },
      () => events,
      40_000,
    )
    t.notMatch(events, /can't listen yet|can't speak yet|"type":"failure"/)
    await ada.ask('POST', `/calls/${id}/hangup`)
    t.same(faults, [], 'nothing broke')
    t.same(strays, [], 'no request left the instance')
  },
)
