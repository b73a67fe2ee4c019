import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { finishedLog, makeAgent } from '../../../../scripts/demo/call.ts'
import { AGENT } from '../../../../scripts/demo/script.ts'
import { withRoom } from '../../../../scripts/demo/with-room.ts'
import { buildClient, listen, servePage, startBrowser, withoutBrowser } from '../../../support/browser/browser.ts'
import { axeFaults } from '../../../support/browser/console.ts'
import { PAGE_MICROPHONE, speakScript } from '../../../support/browser/page-microphone.ts'
import { type Instance, startInstance } from '../../../support/instance/instance.ts'
import { mediaWorker } from '../../../support/instance/media-worker.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { startWebRtcInstance } from '../../../support/instance/webrtc-instance.ts'

const LIMIT_MS = 120_000
const QUESTION = 'What time do you open on Saturday?'
const { path } = await mediaWorker()
const hasWebRtc = path !== ''
let instance: Instance

/** Runs alone: of a question that a busy machine breaks up half is understood. */

t.before(async () => {
  if (withoutBrowser) return
  buildClient()
  instance = hasWebRtc ? await startWebRtcInstance(t, path) : await startInstance(t)
})

const publicAgent = (origins: readonly string[]) =>
  makeAgent(instance.url, { ...AGENT, first_message: '', public: { origins } })

/** Waits until the script holds in a page with a widget; throws with what its call told once that is over. */
async function comes(page: Page, condition: string): Promise<void> {
  const look = `(() => {
    const isOver = told.some(([name]) => name === 'ended')
    return { isSo: Boolean(${condition}), over: isOver && JSON.stringify(told) }
  })()`
  const holds = async () => {
    const { isSo, over } = (await page.evaluate(look)) as { isSo: boolean; over: string | false }
    if (!isSo && over !== false) throw new Error(`The call ended early: ${over}`)
    return isSo
  }
  await until(holds, () => condition, LIMIT_MS)
}

/** The Content-Security-Policy that docs/web.md prints, for this installation. */
async function documentedPolicy(url: string): Promise<string> {
  const page = await readFile(join(import.meta.dirname, '../../../../docs/web.md'), 'utf8')
  const policy = /^Content-Security-Policy: (.*)$/m.exec(page)?.[1] ?? ''
  return policy
    .replaceAll('https://voice.example.com', url)
    .replaceAll('wss://voice.example.com', url.replace('http', 'ws'))
}

/** Waits for words on any page; throws with its messages once they say that the call is over. */
async function shows(page: Page, words: string): Promise<void> {
  const holds = async () => {
    if (await page.getByText(words).first().isVisible()) return true
    const messages = (await page.getByRole('status').or(page.getByRole('alert')).allInnerTexts()).join('; ')
    if (/over|ended/.test(messages)) throw new Error(`The call ended early: ${messages}`)
    return false
  }
  await until(holds, () => words, LIMIT_MS)
}

type Told = ['transcript', { role: string; text: string; final: boolean }] | [string, Record<string, unknown>]

t.test(
  'a spoken question is heard, answered and heard on the page of a public agent',
  { skip: withoutBrowser },
  async (t) => {
    const { rest, agentId } = await publicAgent([])
    const { page, faults } = await withRoom(async () => {
      const browser = await startBrowser(t, { speech: [] })
      const page = await browser.newPage()
      const faults = await listen(page)
      const response = await page.goto(`${instance.url.replace('127.0.0.1', 'localhost')}/talk/${agentId}`)
      t.match(response?.headers()['content-security-policy'], "default-src 'none'")
      t.equal(await page.title(), AGENT.agent_name)
      await page.evaluate(`(async () => {${PAGE_MICROPHONE}})()`)
      await page.getByRole('button', { name: 'Talk to us' }).click()
      await comes(page, "told.some(([, state]) => state === 'connected')")
      return { page, faults }
    })
    await page.evaluate(await speakScript(QUESTION))
    const said = (role: string, text: RegExp) =>
      `told.some(([name, words]) => name === 'transcript' && words.role === '${role}' && words.final && ${text}.test(words.text))`
    await comes(page, `${said('user', /Saturday/)} && ${said('assistant', /ten in the morning/)} && loudest > 0.01`)
    const callLogId = (await page.evaluate("document.querySelector('patchbay-agent').call.callLogId")) as string
    await page.getByRole('button', { name: 'Hang up' }).click()
    const log = await finishedLog(rest, callLogId, AbortSignal.timeout(LIMIT_MS))
    t.match(log, { status: 'completed', end_reason: 'caller_hangup' })
    const has = (role: string, words: RegExp) =>
      log.transcript.some((entry) => entry.role === role && words.test(entry.text))
    t.ok(has('user', /Saturday/) && has('assistant', /ten in the morning/), JSON.stringify(log.transcript))
    t.equal(log.transcript.filter(({ role }) => role === 'user').length, 1, 'what was asked once')
    const told = (await page.evaluate('told')) as Told[]
    t.same(
      told.filter(([name]) => name === 'state').map(([, state]) => state),
      ['microphone', 'connecting', 'connected', 'ended'],
    )
    t.same(
      told.filter(([name]) => name === 'ended').map(([, ended]) => ended),
      [{ reason: 'caller_hangup' }],
      'told once',
    )
    t.same(faults, [], 'and nothing was refused or failed')
  },
)

t.test(
  'the widget talks on a page of another origin that the agent names, and says why not on others',
  { skip: withoutBrowser },
  async (t) => {
    const html = (agent: string) =>
      `<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1></main><script src="${instance.url}/widget.js" async></script><patchbay-agent agent="${agent}"></patchbay-agent></html>`
    const browser = await startBrowser(t, { speech: [60_000] })
    const policy = await documentedPolicy(instance.url)
    const origin = await servePage(t, '<!doctype html><body></body>', { 'content-security-policy': policy })
    const { agentId } = await publicAgent([origin])
    const other = (await publicAgent(['https://example.com'])).agentId
    const warnings: string[] = []
    for (const [id, works] of [
      [agentId, true],
      [other, false],
    ] as const) {
      const { page, faults } = await withRoom(async () => {
        const page = await browser.newPage()
        const faults = await listen(page)
        page.on('console', (message) => warnings.push(message.text()))
        await page.goto(origin)
        await page.setContent(html(id))
        await page.getByRole('button', { name: 'Talk to us' }).click()
        await page.getByRole('button', { name: 'Talk to us' }).click()
        if (works) await shows(page, 'Listening')
        return { page, faults }
      })
      if (works) {
        await page.evaluate(`document.querySelector('patchbay-agent').call.on('level', ({ side, level }) => {
          window.isAudible ||= side === 'agent' && level > 0.01
        })`)
        await page.getByLabel('Type a message').fill('How much does delivery cost?')
        await page.getByRole('button', { name: 'Send' }).click()
        await shows(page, 'three euros')
        await page.getByRole('log').getByText('How much does delivery cost?').waitFor()
        t.same(await axeFaults(page), [], 'a call with its words is accessible')
        await until(() => page.evaluate<boolean>('window.isAudible === true'), undefined, LIMIT_MS)
        t.match(await page.evaluate("document.querySelector('patchbay-agent').call.stats()"), {
          transport: hasWebRtc ? 'webrtc' : 'websocket',
        })
        t.same(faults, [])
      } else {
        await page.getByText('The call could not be made.').waitFor({ timeout: LIMIT_MS })
        t.equal(await page.getByText('The call is over').count(), 0, 'a call that never began is not over')
        t.equal(await page.getByText('public.origins').count(), 0, 'a visitor can do nothing about it')
        t.match(warnings.join('\n'), `its public.origins must name ${origin}`, 'the owner of the page can')
      }
      await page.close()
    }
  },
)

/** The server of the example's pages, which hands out sessions with an agent; where it listens. */
async function serveExample(env: Readonly<Record<string, string>>): Promise<string> {
  const file = join(import.meta.dirname, '../../../../examples/web/server.ts')
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [file], {
    env: { PATH, PORT: '0', PATCHBAY_URL: instance.url, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => void child.kill())
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  await until(
    () => /http:\S+/.test(said) || child.exitCode !== null,
    () => said,
    LIMIT_MS,
  )
  return /http:\S+/.exec(said)?.[0] ?? ''
}

t.test('the example’s pages talk with sessions of their own server', { skip: withoutBrowser }, async (t) => {
  const { rest, agentId } = await makeAgent(instance.url, { ...AGENT, first_message: 'Welcome to the example.' })
  const { key } = await rest.send<{ key: string }>('POST', '/api-keys', { name: 'Example', scopes: ['calls'] })
  const address = await serveExample({ PATCHBAY_API_KEY: key, AGENT_ID: agentId })
  const browser = await startBrowser(t, { speech: [60_000] })
  for (const [path, over] of [
    ['/', 'over: caller_hangup'],
    ['/react', 'over: caller_hangup'],
    ['/widget', 'The call is over'],
  ] as const) {
    const { page, faults } = await withRoom(async () => {
      const page = await browser.newPage()
      const faults = await listen(page)
      await page.goto(`${address}${path}`)
      await page.getByRole('button', { name: 'Talk to us' }).click()
      await shows(page, 'Welcome to the example.')
      return { page, faults }
    })
    await page.getByRole('button', { name: 'Hang up' }).click()
    await page.getByRole('status').filter({ hasText: over }).waitFor({ timeout: LIMIT_MS })
    t.same(faults, [], path)
    await page.close()
  }
  const refused = await serveExample({ PATCHBAY_API_KEY: 'pb_wrong', AGENT_ID: agentId })
  const page = await browser.newPage()
  await page.goto(refused)
  await page.getByRole('button', { name: 'Talk to us' }).click()
  await page.getByText('no session: HTTP 401').waitFor({ timeout: LIMIT_MS })
})
