import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { makeAgent } from '../../../scripts/demo/call.ts'
import { AGENT } from '../../../scripts/demo/script.ts'
import { withRoom } from '../../../scripts/demo/with-room.ts'
import { buildClient, startBrowser, withoutBrowser } from '../../support/browser/browser.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { mediaWorker } from '../../support/instance/media-worker.ts'
import type { Teardown } from '../../support/instance/services.ts'
import { startWebRtcInstance } from '../../support/instance/webrtc-instance.ts'

const LIMIT_MS = 150_000
const { path } = await mediaWorker()

/** The TypeScript of a page of the documentation, block by block. */
async function examplesOf(page: string): Promise<string[]> {
  const text = await readFile(join(import.meta.dirname, '../../../docs', page), 'utf8')
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = '']) => block)
}

interface Reply {
  status(code: number): Reply
  send(body: string): void
}
type Handler = (request: IncomingMessage, response: Reply) => Promise<void>

/** A server as the back end of the example wants one: `app.post`, and the page at everything else. */
async function serve(t: Teardown, html: string, configure: (app: unknown) => void): Promise<string> {
  const handlers = new Map<string, Handler>()
  configure({ post: (path: string, handler: Handler) => handlers.set(path, handler) })
  const reply = (response: ServerResponse): Reply => ({
    status(code) {
      response.statusCode = code
      return this
    },
    send: (body) => void response.setHeader('content-type', 'application/json').end(body),
  })
  const server = createServer((request, response) => {
    const handler = handlers.get(request.url ?? '')
    if (handler === undefined) response.setHeader('content-type', 'text/html').end(html)
    else handler(request, reply(response)).catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

t.test('the page and the back end of the examples talk with an agent', { skip: withoutBrowser }, async (t) => {
  buildClient()
  const instance = path === '' ? await startInstance(t) : await startWebRtcInstance(t, path)
  const { rest, agentId } = await makeAgent(instance.url, AGENT)
  const { key } = await rest.send<{ key: string }>('POST', '/api-keys', { name: 'page' })
  const [backEnd = '', page = ''] = await examplesOf('web.md')
  const [ownClient = ''] = (await examplesOf('realtime.md')).filter((block) => block.includes('RTCPeerConnection'))
  const html = `<!doctype html><button>Call</button><script type="module">
    window.shown = []
    const show = (...words) => shown.push(words.join(' '))
    const button = document.querySelector('button')
    ${page.replace(/'https:[^']+(\/client\/[^']+)'/, `'${instance.url}$1'`)}
    window.call = call
  </script>`
  const origin = await serve(t, html, (app) => {
    new Function('app', 'PATCHBAY', 'AGENT', 'KEY', backEnd)(app, instance.url, agentId, key)
  })
  const browser = await startBrowser(t, { speech: [120_000] })
  const visit = async (): Promise<Page> => {
    const tab = await browser.newPage()
    tab.setDefaultTimeout(LIMIT_MS)
    await tab.goto(origin)
    await tab.waitForFunction('window.call !== undefined')
    return tab
  }

  const greeted = (words: string) => words.includes('Welcome to the Harbour Bistro')
  const tab = await withRoom(async () => {
    const tab = await visit()
    await tab.click('button')
    const over = "shown.some((words) => words.startsWith('over '))"
    await tab.waitForFunction(`${over} || shown.some(${greeted})`, undefined, { timeout: LIMIT_MS })
    const shown = await tab.evaluate<string[]>('shown')
    if (!shown.some(greeted)) throw new Error(shown.join('; '))
    return tab
  })
  await tab.evaluate('call.end()')
  t.equal(await tab.evaluate('shown.at(-1)'), 'over caller_hangup true')

  if (path === '') return
  const talk = async () =>
    (await visit()).evaluate<boolean>(`(async () => {
    const session = async () => (await fetch('/my/session', { method: 'POST' })).json()
    const microphone = (await navigator.mediaDevices.getUserMedia({ audio: true })).getAudioTracks()[0]
    ${ownClient}
    await new Promise((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => {
        const { type, reason } = JSON.parse(data)
        if (type === 'session.started') resolve()
        if (type === 'session.ended') reject(new Error(reason))
      })
      socket.addEventListener('close', ({ code }) => reject(new Error('closed with ' + code)))
    })
    for (;;) {
      for (const one of (await peer.getStats()).values()) {
        if (one.type === 'inbound-rtp' && one.packetsReceived > 5) return true
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  })()`)
  t.ok(await withRoom(talk), 'and a client of one’s own hears it over WebRTC')
})
