import t from 'tap'
import { axeFaults, startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { PAGE_MICROPHONE, speakScript } from '../../support/browser/page-microphone.ts'
import { startInstance } from '../../support/instance/instance.ts'

/** Makes the account that every visit of this file goes on with. */
const ACCOUNT = {
  Name: 'Ada Lovelace',
  'E-mail': 'ada@example.com',
  Password: 'correct horse',
  'Phone number': '+14155550123',
}

const QUESTION = 'Where can I park?'
const LIMIT_MS = 150_000
/** Until what was asked is answered, if it was understood. */
const ANSWERED_MS = 10_000

t.test('whoever opens a fresh instance talks to an agent and sees the call', { skip: withoutChromium }, async (t) => {
  const { url, output } = await startInstance(t)
  const open = await startBrowsers(t)
  await t.test('from another machine, with the link that the start printed', async (t) => {
    const { page, faults } = await open(url, { extraHTTPHeaders: { 'x-forwarded-for': '203.0.113.9' } })
    const [, link] = /another machine by\n +(\S+)/.exec(output()) ?? []
    t.ok(link)
    const { hash } = new URL(link ?? '')
    await page.goto(`${url}/${hash}`)
    const field = page.getByLabel('Setup token')
    t.equal(`#setup=${await field.inputValue()}`, hash)
    t.same(await axeFaults(page), [], 'the door is accessible')
    await field.fill('guessed')
    for (const [label, value] of Object.entries(ACCOUNT)) await page.getByLabel(label, { exact: true }).fill(value)
    await page.getByRole('button', { name: 'Create my account' }).click()
    await page.getByText('Setup token is wrong').waitFor()
    t.same(faults, [])
  })

  const { page, faults, strays } = await open(url)

  await page.goto(url)
  await page.getByRole('heading', { name: 'Welcome to Patchbay' }).waitFor()
  t.same(await axeFaults(page), [], 'the door is accessible')
  for (const [label, value] of Object.entries(ACCOUNT)) await page.getByLabel(label, { exact: true }).fill(value)
  await page.getByRole('button', { name: 'Create my account' }).click()

  await page.getByRole('link', { name: 'Talk to Front desk' }).click()
  await page.getByRole('button', { name: 'Talk to Front desk' }).waitFor()
  await page.evaluate(`(async () => {${PAGE_MICROPHONE}})()`)
  await page.getByRole('button', { name: 'Talk to Front desk' }).click()
  const log = page.getByRole('log')
  // Only then: who speaks over the first words of the greeting has heard none of it.
  await log.getByText('Hotel Aurora').waitFor()
  const answer = log.getByText('Parking is free').first()
  const speech = await speakScript(QUESTION)
  // A busy machine breaks up what is said: it is said until it is understood.
  for (const endMs = performance.now() + LIMIT_MS; !(await answer.isVisible()) && performance.now() < endMs; ) {
    await page.evaluate(speech)
    await answer.waitFor({ timeout: ANSWERED_MS }).catch(() => undefined)
  }
  await answer.waitFor()
  await log.getByText(QUESTION).first().waitFor()
  await log.getByText('answered in').first().waitFor()
  await page.getByRole('button', { name: 'Mute' }).click()
  await page.getByText('You are muted').waitFor()
  await page.getByLabel('Say something by typing').fill('When is breakfast served?')
  await page.keyboard.press('Enter')
  await log.getByText('seven to ten').waitFor()
  await page.getByRole('button', { name: 'Do you have vegetarian dishes?' }).click()
  await log.getByText('The restaurant has vegetarian dishes').waitFor()
  t.same(await axeFaults(page), [], 'the agent’s screen is accessible')
  await page.getByRole('button', { name: 'Hang up' }).click()

  await page.getByRole('link', { name: 'See the call' }).click()
  await page.getByRole('heading', { name: 'Transcript' }).waitFor()
  await page.getByRole('main').getByRole('paragraph').filter({ hasText: QUESTION }).first().waitFor()
  await page.getByRole('heading', { name: 'Latency by answer' }).waitFor()
  await page.getByRole('slider', { name: 'Place in the recording' }).waitFor()
  t.same(await axeFaults(page), [], 'the call is accessible')

  // A browser that keeps its microphone to itself: the panel says what to do, and typing is left.
  await page.addInitScript(
    "navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('', 'NotAllowedError'))",
  )
  await page.goto(`${url}/console/agents`)
  await page.getByRole('link', { name: 'Front desk' }).click()
  await page.getByRole('button', { name: 'Talk to Front desk' }).click()
  await page.getByText('allow the microphone, then talk again').waitFor()
  await page.getByRole('button', { name: 'Type instead' }).click()
  await log.getByText('Hotel Aurora').waitFor()
  t.equal(await page.getByRole('button', { name: 'Mute' }).count(), 0, 'there is nothing to mute')

  // On a telephone talking is a tab of its own, and goes on behind the others.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('tab', { name: 'Prompt' }).click()
  await log.waitFor({ state: 'hidden' })
  await page.getByRole('tab', { name: 'Talk' }).click()
  await log.getByText('Hotel Aurora').waitFor()

  t.same(faults, [], 'nothing broke')
  t.same(strays, [], 'no request left the instance')
})
