import t from 'tap'
import { axeFaults, soundAt, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { userOf } from '../../support/browser/console-user.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { mediaWorker } from '../../support/instance/media-worker.ts'
import { startWebRtcInstance } from '../../support/instance/webrtc-instance.ts'

interface Workload {
  workers: { worker_id: string }[]
}

const MARKUP = "Is there <img src=x onerror='document.title=1'> still somebody?"
const QUESTION = 'Where can I park?'
const SPEECH = Array.from({ length: 20 }, (_, at) => [at === 0 ? 2_500 : 5_000, QUESTION]).flat()
const LIMIT_MS = 120_000

t.test('a live call is watched, whispered to, taken over and given back', { skip: withoutChromium }, async (t) => {
  const { path: worker } = await mediaWorker()
  const hasPeers = worker !== ''
  // A worker that drains waits for its call, however slow the machine.
  const env = { PATCHBAY_DRAIN_MS: '120000' }
  const { url } = hasPeers ? await startWebRtcInstance(t, worker, env) : await startInstance(t, env)
  const open = await startBrowsers(t, { speech: SPEECH })
  const ada = userOf(url, 'ada@example.com')
  await ada.enter('Ada Lovelace')
  const { agent_id } = await ada.ask('POST', '/agents', {
    agent_name: 'Front desk',
    system_prompt: 'You answer the phone of a hotel. Breakfast is served from seven to ten.',
    first_message: 'Hotel Aurora, good day! How can I help you?',
  })
  const [caller, supervisor] = [await open(url), await open(url)]
  for (const { context } of [caller, supervisor]) await context.addCookies(ada.cookies())

  // The caller types: nothing but the supervisor's voice is heard once the agent is silent.
  await caller.page.goto(`${url}/console/agents/${agent_id}`)
  await caller.page.getByRole('button', { name: 'Without a microphone' }).click()
  await caller.page.getByRole('log').getByText('Hotel Aurora').waitFor({ timeout: LIMIT_MS })
  const say = async (text: string) => {
    await caller.page.getByLabel('Say something by typing').fill(text)
    await caller.page.getByRole('button', { name: 'Send' }).click()
  }

  const { page } = supervisor
  const sockets: string[] = []
  page.on('websocket', (socket) => void sockets.push(socket.url()))
  const words = page.getByRole('log')
  await page.goto(`${url}/console/live`)
  await page.getByRole('button', { name: 'Watch' }).click()
  await words.getByText('Hotel Aurora').waitFor()
  await page.getByRole('button', { name: 'Listen in' }).click()
  await words.getByText('Ada Lovelace listens').waitFor()
  await Promise.all([soundAt(page, 'The voice they hear'), say('When is breakfast served?')])
  await words.getByText('When is breakfast served?').waitFor()
  await words.getByText('seven to ten').waitFor()
  t.equal(
    sockets.some((address) => address.includes('media=webrtc')),
    hasPeers,
    'over WebRTC where it is open',
  )
  t.same(await axeFaults(page), [], 'it is accessible')

  await page.getByLabel('Words for the agent').fill('Offer a late check-out')
  await page.getByRole('button', { name: 'Whisper' }).click()
  await words.getByText('whispered to the agent: Offer a late check-out').waitFor()
  await page.getByLabel('Words for the agent').fill('We have a table for you.')
  await page.getByRole('button', { name: 'Say', exact: true }).click()
  await caller.page.getByRole('log').getByText('We have a table for you.').waitFor()
  t.equal(await caller.page.getByText('late check-out').count(), 0, 'the caller heard nothing of the whisper')

  // Nobody leads a browser to a number: it is said, and the call stays.
  await page.getByRole('button', { name: 'Transfer', exact: true }).click()
  await page.getByLabel('To', { exact: true }).fill('+14155550123')
  await page.getByRole('button', { name: 'Transfer it' }).click()
  await page.getByText('not possible in this conversation').waitFor()
  await say('Where can I park?')
  await words.getByText('Where can I park?').waitFor()

  await page.getByRole('button', { name: 'Take over' }).click()
  await page.getByText('You have the call', { exact: true }).waitFor()
  await words.getByText('Ada Lovelace took the call over').waitFor()
  await say('Do you have a garden room?')
  await words.getByText('Do you have a garden room?').waitFor()
  await soundAt(caller.page, 'The agent’s voice')

  await page.getByRole('button', { name: 'Give back' }).click()
  await page.getByLabel('What you agreed on').fill('A garden room was promised')
  await page.getByRole('button', { name: 'Give it back' }).click()
  await words.getByText('gave the call back: A garden room was promised').waitFor()
  await say('When is breakfast served?')
  await caller.page.getByRole('log').getByText('seven to ten').nth(1).waitFor({ timeout: LIMIT_MS })

  if (hasPeers) {
    // In a network that lets nothing else through, the sound comes over the socket.
    await page.getByRole('button', { name: 'Stop listening' }).click()
    await page.route('**/listen', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, json: { ...(await response.json()), webrtc: null } })
    })
    await page.getByRole('button', { name: 'Listen in' }).click()
    await words.getByText('Ada Lovelace listens').nth(1).waitFor()
    await Promise.all([soundAt(page, 'The voice they hear'), say('When is breakfast served?')])
  }
  const operator = await open(url)
  await operator.context.addCookies(ada.cookies())
  const workers = operator.page.getByRole('region', { name: 'Voice workers' })
  await operator.page.goto(`${url}/console/operator`)
  await workers.getByRole('button', { name: 'Drain' }).click()
  await operator.page.getByText('No other worker takes calls now').waitFor()
  await operator.page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click()
  await operator.page.getByText('takes no new call; 1 goes on').waitFor()
  await workers.getByRole('cell', { name: 'Draining', exact: true }).waitFor()
  const [{ worker_id } = { worker_id: '' }] = (await ada.ask<Workload>('GET', '/operator/workers')).workers
  t.same(await ada.ask('POST', `/operator/workers/${worker_id}/drain`), { detail: 'Voice worker drains' })
  t.match(await ada.ask('POST', '/operator/workers/nobody/drain'), { detail: 'Voice worker not found' })
  await say(MARKUP)
  await words.getByText(MARKUP).waitFor()
  await caller.page.getByRole('log').getByText(MARKUP).waitFor()
  for (const { page } of [caller, supervisor]) t.not(await page.title(), '1', 'what callers say is text')

  const calls = await caller.context.newPage()
  await calls.goto(`${url}/console/calls`)
  await calls.getByRole('link', { name: '1 live' }).waitFor()
  await page.getByRole('button', { name: 'End call' }).click()
  await page.getByRole('button', { name: 'End it' }).click()
  await caller.page.getByText('The conversation is over').waitFor()
  await page.getByText('Nobody is talking').waitFor()
  await calls.getByRole('link', { name: '1 live' }).waitFor({ state: 'detached' })
  await operator.page.getByText('has taken its place').waitFor({ timeout: 3 * LIMIT_MS })
  await operator.page.goto(`${url}/console/operator?tab=audit`)
  await operator.page.getByText('Drained a voice worker').first().waitFor()

  for (const { faults, strays } of [caller, supervisor, operator]) {
    t.same(faults, [], 'nothing broke')
    t.same(strays, [], 'no request left the instance')
  }
})
