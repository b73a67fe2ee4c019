/**
 * Takes the pictures of docs/console.md anew: `node scripts/console-pictures.ts`, or those named behind it
 * (`calls/live`, `calls/talk`, which is a film). Starts an instance of its own with calls and a
 * campaign on the simulated carrier, and photographs each screen with Debian's Chromium.
 */
import { mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import { startInstance } from '../test/support/instance/instance.ts'
import { sipSettings } from '../test/support/instance/sip-instance.ts'
import { makePictureData } from './console-pictures/data.ts'
import { film } from './console-pictures/film.ts'

const FOLDER = join(import.meta.dirname, '../docs/console')
const MAX_BYTES = 60 * 1024
const MAX_FILM_BYTES = 300 * 1024
const FILM = 'calls/talk'
const FILM_QUALITY = 0.5
const FILM_SIZE = { width: 1100, height: 760 }
const SIZE = { width: 1280, height: 800 }
/** The type face comes after two seconds. */
const SETTLE_MS = 3_500

interface Picture {
  /** With its folder. */
  readonly name: string
  readonly path: string
  readonly dark?: true
  readonly width?: number
  /** Of the browser; default: English. */
  readonly locale?: string
  readonly act?: (page: Page) => Promise<void>
}

const teardowns: (() => unknown)[] = []
try {
  const t = { teardown: (end: () => unknown) => void teardowns.push(end) }
  const { sipPort, env } = await sipSettings()
  const instance = await startInstance(t, { PATCHBAY_RECORD_CALLS: 'true', ...env })
  const data = await makePictureData(t, instance.url, sipPort)
  const names = process.argv.slice(2)
  if (names.length === 0) await rm(FOLDER, { recursive: true, force: true })
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
    ],
  })
  teardowns.push(() => browser.close())
  const agent = `/agents/${data.agentId}`
  const pictures: readonly Picture[] = [
    { name: 'workspace/home', path: '/' },
    { name: 'agents/agents', path: '/agents' },
    { name: 'agents/agent', path: agent, act: talk },
    { name: 'agents/agent-settings', path: `${agent}?tab=settings`, dark: true },
    { name: 'calls/calls', path: '/calls' },
    { name: 'calls/call', path: `/calls/${data.callId}` },
    { name: 'calls/call-phone', path: `/calls/${data.callId}`, dark: true, width: 390 },
    { name: 'calls/call-sip', path: `/calls/${data.sipCallId}`, act: sipMessages },
    { name: 'calls/live', path: '/live', act: async (page) => live(page, data.callPeople) },
    { name: 'calls/reports', path: '/reports' },
    { name: 'campaigns/campaigns', path: '/campaigns' },
    { name: 'campaigns/campaign', path: `/campaigns/${data.campaign}` },
    { name: 'campaigns/campaign-people', path: `/campaigns/${data.campaign}?setup=people`, act: preview },
    { name: 'campaigns/german', path: `/campaigns/${data.campaign}`, locale: 'de-DE' },
    { name: 'campaigns/batches', path: '/batches' },
    { name: 'telephony/numbers', path: '/numbers' },
    { name: 'telephony/trunks', path: '/numbers?tab=trunks' },
    { name: 'telephony/trunk', path: `/numbers/trunks/${data.trunkId}`, act: check },
    { name: 'agents/knowledge', path: `/knowledge?agent_id=${data.agentId}` },
    { name: 'workspace/providers', path: '/providers' },
    { name: 'agents/agent-web', path: `${agent}?tab=web` },
    { name: 'workspace/webhook', path: `/developers/webhooks/${data.webhookId}` },
    { name: 'workspace/requests', path: '/developers?tab=requests' },
    { name: 'workspace/account', path: '/account' },
    { name: 'workspace/workspace', path: '/workspace' },
    { name: 'workspace/operator', path: '/operator' },
  ]
  for (const picture of pictures) {
    if (names.length > 0 && !names.includes(picture.name)) continue
    const { width = SIZE.width, height = SIZE.height } = { ...SIZE, ...(picture.width && { width: picture.width }) }
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: picture.dark ? 'dark' : 'light',
      locale: picture.locale ?? 'en-US',
    })
    await context.addCookies(data.cookies())
    await take(context, picture, instance.url)
    await context.close()
  }
  if (names.length === 0 || names.includes(FILM)) {
    const context = await browser.newContext({ viewport: FILM_SIZE, colorScheme: 'light', locale: 'en-US' })
    await context.addCookies(data.cookies())
    await takeFilm(context, `${instance.url}/console${agent}`)
    await context.close()
  }
} finally {
  for (const end of teardowns.reverse()) await end()
}

async function take(context: BrowserContext, { name, path, act }: Picture, url: string): Promise<void> {
  const page = await context.newPage()
  await page.goto(`${url}/console${path}`)
  await page.getByRole('heading').first().waitFor()
  await act?.(page)
  await sleep(SETTLE_MS)
  const png = (await page.screenshot()).toString('base64')
  const blank = await context.newPage()
  const file = join(FOLDER, `${name}.webp`)
  await mkdir(dirname(file), { recursive: true })
  for (const quality of [0.82, 0.7, 0.55, 0.4]) {
    await writeFile(file, await webpOf(blank, png, quality))
    if ((await stat(file)).size <= MAX_BYTES) break
  }
  const { size } = await stat(file)
  if (size > MAX_BYTES) throw new Error(`${file} has ${size} bytes, more than ${MAX_BYTES}`)
  process.stdout.write(`${name}: ${Math.round(size / 1024)} KiB\n`)
}

/** A call in the browser, from the click to the second answer. */
async function takeFilm(context: BrowserContext, address: string): Promise<void> {
  const page = await context.newPage()
  await page.goto(address)
  await page.getByRole('button', { name: /^Talk to/ }).waitFor()
  await sleep(SETTLE_MS)
  const act = async () => {
    await talk(page)
    await sleep(SETTLE_MS)
    await page
      .getByLabel('Say something by typing')
      .pressSequentially('And when do I have to check out?', { delay: 40 })
    await page.keyboard.press('Enter')
    await page.getByRole('log').getByText('eleven').waitFor()
    await sleep(SETTLE_MS)
  }
  const blank = await context.newPage()
  await page.bringToFront()
  const webp = await film(page, blank, act, FILM_QUALITY)
  if (webp.length > MAX_FILM_BYTES) throw new Error(`The film has ${webp.length} bytes, more than ${MAX_FILM_BYTES}`)
  await writeFile(join(FOLDER, `${FILM}.webp`), webp)
  process.stdout.write(`${FILM}: ${Math.round(webp.length / 1024)} KiB\n`)
}

async function talk(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Talk to/ }).click()
  await page.getByRole('log').getByText('Hotel Aurora').waitFor()
  await page.getByLabel('Say something by typing').pressSequentially('When is breakfast served?', { delay: 40 })
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('garden room').waitFor()
}

async function preview(page: Page): Promise<void> {
  const rows = 'Mobile,First name,Plan,Notes\n+14155550150,Ada,gold,a\n12,Bob,silver,b\n+14155550150,Eve,gold,c\n'
  await page.getByLabel('File').setInputFiles({ name: 'guests.csv', mimeType: 'text/csv', buffer: Buffer.from(rows) })
  await page.getByLabel('What Mobile is').selectOption('Phone number')
  await page.getByText('Will be loaded').waitFor()
}

async function sipMessages(page: Page): Promise<void> {
  await page.getByText('SIP messages').click()
  await page.getByRole('list', { name: 'SIP messages' }).getByText('BYE').first().scrollIntoViewIfNeeded()
}

async function check(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Check now' }).click()
  await page.getByText('All is as it should be').waitFor()
}

async function live(page: Page, callPeople: () => Promise<void>): Promise<void> {
  await callPeople()
  await page.getByRole('button', { name: 'Watch' }).first().click({ timeout: 60_000 })
  await page.getByRole('button', { name: 'Listen in' }).click()
  await page.getByLabel('Words for the agent').waitFor()
  await page.getByRole('log').getByText('Caller').first().waitFor({ timeout: 60_000 })
}

/** The browser itself writes WebP: no other program is needed. */
async function webpOf(blank: Page, png: string, quality: number): Promise<Buffer> {
  const webp = (await blank.evaluate(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${png}'
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.width
    canvas.height = image.height
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', ${quality}).split(',')[1]
  })()`)) as string
  return Buffer.from(webp, 'base64')
}
