import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { wavHead } from '../../runtime/recording/wav.ts'
import { joinSamples, renderSpeech } from '../../scripts/demo/speech.ts'
import { type Teardown, testFolder } from './services.ts'

/** Debian's Chromium, headless, with a microphone that plays what the test wants said. */

const CHROMIUM = '/usr/bin/chromium'
const RATE_HZ = 48_000

/** Why a test that needs a browser can't run here; false: it can. */
export const withoutBrowser: string | false = existsSync(CHROMIUM)
  ? false
  : 'needs Chromium at /usr/bin/chromium: apt-get install chromium'

export interface BrowserOptions {
  /** What the microphone says: sentences, and pauses in milliseconds. Begins when the microphone is opened. */
  speech: readonly (string | number)[]
  args?: readonly string[]
}

/** A browser whose microphone is a file that is played once. */
export async function startBrowser(t: Teardown, { speech, args = [] }: BrowserOptions): Promise<Browser> {
  const parts = await Promise.all(
    speech.map(async (part) =>
      typeof part === 'number' ? new Int16Array((part * RATE_HZ) / 1000) : await renderSpeech(part, RATE_HZ),
    ),
  )
  const samples = joinSamples(parts)
  const stereo = new Int16Array(2 * samples.length)
  for (const [i, sample] of samples.entries()) stereo.fill(sample, 2 * i, 2 * i + 2)
  const file = join(await testFolder(t), 'microphone.wav')
  await writeFile(file, Buffer.concat([wavHead(RATE_HZ, stereo.byteLength), new Uint8Array(stereo.buffer)]))
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    // Muted, the browser would hear no echo to cancel.
    ignoreDefaultArgs: ['--mute-audio'],
    args: [
      '--no-sandbox',
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${file}%noloop`,
      '--disable-dev-shm-usage',
      ...args,
    ],
  })
  t.teardown(() => browser.close())
  return browser
}

/** Serves this page at an origin of its own. */
export async function servePage(t: Teardown, html: string): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html)
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
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build-web.ts')], {
    env: { ...process.env, NODE_OPTIONS: '' },
  })
}
