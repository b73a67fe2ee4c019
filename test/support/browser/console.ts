import { existsSync } from 'node:fs'
import AxeBuilder from 'axe-core'
import { type BrowserContext, chromium, type Page } from 'playwright-core'
import type { Teardown } from '../instance/services.ts'
import { microphoneArgs, type Speech } from '../phone/microphone.ts'

/** Debian's Chromium at the console of a running instance. */

const CHROMIUM = '/usr/bin/chromium'

/** Why a test that needs a browser can't run here; false: it can. */
export const withoutChromium: string | false = existsSync(CHROMIUM)
  ? false
  : 'needs Chromium at /usr/bin/chromium: apt-get install chromium'

export interface Visit {
  readonly context: BrowserContext
  readonly page: Page
  /** What went wrong in the page: errors it didn't catch, and breaches of its Content-Security-Policy. */
  readonly faults: string[]
  /** Requests that left the instance. */
  readonly strays: string[]
}

/** Keeps what toasts say: each is gone after some seconds, and on a busy machine somebody looks later. */
const TOASTS = `
window.toasts = []
new MutationObserver((changes) => {
  for (const { addedNodes, target } of changes) {
    if (target.nodeType === Node.ELEMENT_NODE && target.matches('.fixed[aria-live=polite]'))
      for (const { textContent } of addedNodes) toasts.push(textContent)
  }
}).observe(document, { childList: true, subtree: true })
`

/** Opens profiles of one browser, which is closed when `t` ends. `speech`: what its microphone says. */
export async function startBrowsers(t: Teardown, { speech = [] }: { speech?: Speech } = {}) {
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    // Muted, the browser would hear no echo to cancel.
    ignoreDefaultArgs: ['--mute-audio'],
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...(await microphoneArgs(t, speech))],
    timeout: 120_000,
  })
  t.teardown(() => browser.close())
  return async (origin: string, options: Parameters<typeof browser.newContext>[0] = {}): Promise<Visit> => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
      ...options,
    })
    context.setDefaultTimeout(60_000)
    await context.addInitScript(TOASTS)
    const page = await context.newPage()
    const visit: Visit = { context, page, faults: [], strays: [] }
    page.on('pageerror', (error) => visit.faults.push(String(error)))
    page.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) visit.faults.push(message.text())
    })
    page.on('request', (request) => {
      const { origin: asked, protocol } = new URL(request.url())
      if (asked !== origin && protocol.startsWith('http')) visit.strays.push(request.url())
    })
    return visit
  }
}

/** How much wider the page is than its window. */
export function overflowPx(page: Page): Promise<number> {
  return page.evaluate(() => {
    interface Sized {
      scrollWidth: number
      clientWidth: number
    }
    const { documentElement } = (globalThis as unknown as { document: { documentElement: Sized } }).document
    return documentElement.scrollWidth - documentElement.clientWidth
  })
}

/** Resolves once a toast of the page has said so, each told of once. */
export async function told(page: Page, words: RegExp): Promise<void> {
  interface Toasts {
    toasts: string[]
  }
  const isTold = (pattern: string) => {
    const { toasts } = globalThis as unknown as Toasts
    const at = toasts.findIndex((toast) => new RegExp(pattern).test(toast))
    if (at >= 0) toasts.splice(0, at + 1)
    return at >= 0
  }
  await page.waitForFunction(isTold, words.source, { polling: 50 })
}

/** What axe finds wrong with the page as it stands, as sentences. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(AxeBuilder.source)
  const { violations } = await page.evaluate(() => {
    const { axe } = globalThis as unknown as { axe: typeof AxeBuilder }
    return axe.run({
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      resultTypes: ['violations'],
    } as never)
  })
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`)
}

/** Resolves once a meter of the page shows a sound. */
export async function soundAt(page: Page, label: string, timeout = 60_000): Promise<void> {
  interface Meters {
    document: { querySelector(selector: string): { value: number } | null }
  }
  const isLoud = (selector: string) =>
    ((globalThis as unknown as Meters).document.querySelector(selector)?.value ?? 0) > 0.05
  await page.waitForFunction(isLoud, `meter[aria-label="${label}"]`, { polling: 50, timeout })
}
