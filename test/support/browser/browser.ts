import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Teardown } from '../instance/services.ts'
import { microphoneArgs, type Speech } from '../phone/microphone.ts'
import type { SoundCard } from '../phone/sound-card.ts'

/** Debian's Chromium, headless, with a microphone that plays what the test wants said. */

export const CHROMIUM = '/usr/bin/chromium'

/** Why a test that needs a browser can't run here; false: it can. */
export const withoutBrowser: string | false = existsSync(CHROMIUM)
  ? false
  : 'needs Chromium at /usr/bin/chromium: apt-get install chromium'

export interface BrowserOptions {
  /** What its microphone says, where it is none of a sound card. */
  speech: Speech
  card?: SoundCard
  args?: readonly string[]
}

/** A browser whose microphone is a file that is played once, or that of a sound card. */
export async function startBrowser(t: Teardown, { speech, card, args = [] }: BrowserOptions): Promise<Browser> {
  const microphone = card === undefined ? await microphoneArgs(t, speech) : ['--use-fake-ui-for-media-stream']
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    // Muted, the browser would hear no echo to cancel.
    ignoreDefaultArgs: ['--mute-audio'],
    ...(card && { env: { ...process.env, ...card.env } }),
    args: ['--no-sandbox', ...microphone, '--disable-dev-shm-usage', ...args],
    timeout: 120_000,
  })
  t.teardown(() => browser.close())
  return browser
}

/** Serves this page at an origin of its own, with these headers. */
export async function servePage(
  t: Teardown,
  html: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(html)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

const LISTENER = `
window.told = []
window.loudest = 0
for (const name of ['state', 'transcript', 'ended', 'error']) {
  addEventListener('patchbay:' + name, ({ detail }) => {
    told.push([name, detail instanceof Error ? { code: detail.code, message: detail.message } : detail])
    if (name !== 'state' || detail !== 'connecting') return
    document.querySelector('patchbay-agent').call.on('level', ({ side, level }) => {
      if (side === 'agent') loudest = Math.max(loudest, level)
    })
  })
}`

/** Keeps what the page's calls tell, as `told`: [name, value] each, and as `loudest` how loud the agent was. Listens to the widget's events. */
export async function listen(page: Page): Promise<string[]> {
  const faults: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(String(error)))
  await page.addInitScript(LISTENER)
  return faults
}

/** The client as it is published. */
export function buildClient(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../../scripts/build-web.ts')], {
    env: { ...process.env, NODE_OPTIONS: '' },
  })
}
