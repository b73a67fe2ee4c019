/**
 * The server of your pages: it has the API key, which no page sees, and hands out sessions with an agent. It serves three pages to
 * talk on: `/` a plain one, `/react` and `/widget`.
 *
 *     PATCHBAY_URL=http://localhost:8080 PATCHBAY_API_KEY=pb_… AGENT_ID=… node examples/web/server.ts
 */
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'

const { PATCHBAY_URL = 'http://localhost:8080', PATCHBAY_API_KEY = '', AGENT_ID = '', PORT = '3000' } = process.env
const HERE = import.meta.dirname
const PAGES = { '/': 'plain.html', '/react': 'react.html', '/widget': 'widget.html' }

/** Authenticate your visitor here: everybody who gets a session talks at your cost. */
async function openSession(): Promise<Response> {
  const url = new URL('/calls/generate-token', PATCHBAY_URL)
  url.searchParams.set('agent_id', AGENT_ID)
  return fetch(url, { headers: { 'x-api-key': PATCHBAY_API_KEY }, signal: AbortSignal.timeout(10_000) })
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(HERE, 'react.tsx')],
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    write: false,
    // The one of this checkout; in a project of your own, `npm install https://<your installation>/client/patchbay-web.tgz`.
    alias: { '@patchbay/web/react': join(HERE, '../../packages/web/dist/react.js') },
  })
  return outputFiles[0]?.text ?? ''
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': `${type}; charset=utf-8` }).end(body)
}

const server = createServer(async ({ method, url = '/' }, response) => {
  try {
    const page = Object.entries(PAGES).find(([path]) => path === url)?.[1]
    if (method === 'POST' && url === '/session') {
      const answer = await openSession()
      send(response, answer.status, 'application/json', await answer.text())
    } else if (url === '/react.js') send(response, 200, 'text/javascript', await bundle())
    else if (page === undefined) send(response, 404, 'text/plain', 'There is no such page')
    else {
      const html = await readFile(join(HERE, page), 'utf8')
      send(response, 200, 'text/html', html.replaceAll('PATCHBAY_URL', PATCHBAY_URL))
    }
  } catch (error) {
    console.error(error)
    send(response, 502, 'text/plain', 'The agent can’t be reached')
  }
})
server.listen(Number(PORT), 'localhost', () => {
  console.log(`Talk at http://localhost:${(server.address() as AddressInfo).port}`)
})
