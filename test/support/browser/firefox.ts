import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import WebSocket from 'ws'
import { type Teardown, testFolder } from '../instance/services.ts'
import type { SoundCard } from '../phone/sound-card.ts'
import { hurry } from '../world/hurry.ts'
import type { TestPage } from './page-call.ts'

/** Debian's Firefox, headless, led by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/). */

const FIREFOX = '/usr/bin/firefox-esr'
const START_TIMEOUT_MS = 120_000

/** Why a test that needs it can't run here; false: it can. */
export const withoutFirefox: string | false = existsSync(FIREFOX)
  ? false
  : 'needs Firefox at /usr/bin/firefox-esr: apt-get install firefox-esr'

/** A microphone without a question, sound without a click, and no calls home. */
const PREFERENCES = {
  'media.navigator.permission.disabled': true,
  'media.autoplay.default': 0,
  'media.autoplay.blocking_policy': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.reportingpolicy.firstRun': false,
  'app.update.disabledForTesting': true,
  'browser.safebrowsing.downloads.remote.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
  'extensions.getAddons.cache.enabled': false,
  'browser.startup.page': 0,
}

interface Answer {
  id?: number
  type: 'success' | 'error' | 'event'
  result?: Record<string, unknown>
  message?: string
}

interface Evaluated {
  type: 'success' | 'exception'
  result?: { type: string; value?: string }
  exceptionDetails?: { text: string }
}

/** A page of a Firefox of its own, at this loudspeaker and microphone: without any, Firefox plays and hears nothing. */
export async function startFirefox(t: Teardown, { env }: SoundCard): Promise<TestPage> {
  const profile = await testFolder(t)
  const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});`)
  await writeFile(join(profile, 'user.js'), lines.join('\n'))
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0']
  const { PATH = '' } = process.env
  // Root's own home, as a rule, is another user's in a container; the profile's folder serves.
  const child = spawn(FIREFOX, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH, HOME: profile, ...env } })
  hurry(child.pid)
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const socket = new WebSocket(`${await addressOf(child)}/session`)
  await once(socket, 'open')
  t.teardown(() => socket.terminate())
  const command = commandsOver(socket)
  await command('session.new', { capabilities: {} })
  const { contexts } = (await command('browsingContext.getTree', {})) as { contexts: { context: string }[] }
  const context = contexts[0]?.context
  return {
    goto: (url) => command('browsingContext.navigate', { context, url, wait: 'complete' }),
    async evaluate<T>(script: string): Promise<T> {
      const { result, exceptionDetails } = (await command('script.evaluate', {
        expression: `(async () => JSON.stringify(await (${script})))()`,
        target: { context },
        awaitPromise: true,
        userActivation: true,
      })) as unknown as Evaluated
      if (exceptionDetails !== undefined) throw new Error(`${exceptionDetails.text} in ${script.slice(0, 2_000)}`)
      return result?.value === undefined ? (undefined as T) : (JSON.parse(result.value) as T)
    },
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const fail = () => reject(new Error(`Firefox did not start: ${said}`))
    const timer = setTimeout(fail, START_TIMEOUT_MS)
    child.once('exit', fail).once('error', reject)
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-4_000)
      const address = /WebDriver BiDi listening on (\S+)/.exec(said)?.[1]
      if (address === undefined) return
      clearTimeout(timer)
      resolve(address)
    })
  })
}

function commandsOver(socket: WebSocket) {
  let last = 0
  const waiting = new Map<number, (answer: Answer) => void>()
  socket.on('message', (data: Buffer) => {
    const answer = JSON.parse(data.toString()) as Answer
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
  })
  socket.on('close', () => {
    for (const settle of waiting.values()) settle({ type: 'error', message: 'Firefox is gone' })
  })
  return async (method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const id = ++last
    const answer = await new Promise<Answer>((resolve) => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
    waiting.delete(id)
    if (answer.type === 'error') throw new Error(`${method}: ${answer.message}`)
    return answer.result ?? {}
  }
}
