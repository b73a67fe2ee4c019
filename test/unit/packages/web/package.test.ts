import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import type * as server from '../../../../api/realtime/messages.ts'
import type * as client from '../../../../packages/web/src/protocol.ts'
import { buildClient } from '../../../support/browser/browser.ts'

const folder = join(import.meta.dirname, '../../../../packages/web')
const MOST_BYTES = 8 * 1024

/** The same type, both ways: what server and client say of a message can't differ. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
const sameMessages: [
  Same<server.ServerMessage, client.ServerMessage>,
  Same<server.ClientMessage, client.ClientMessage>,
] = [true, true]

interface Package {
  exports: Record<string, string | { types: string; default: string }>
  sideEffects: readonly string[]
}

const dist = (file: string): Buffer => readFileSync(join(folder, file))

t.test('library, hook and widget are at most 8 KiB each as they travel', async (t) => {
  buildClient()
  const { exports, sideEffects } = JSON.parse(dist('package.json').toString()) as Package
  const published = Object.values(exports).map((one) => (typeof one === 'string' ? one : one.default))
  for (const file of new Set([...published, ...sideEffects])) {
    const { length } = gzipSync(dist(file), { level: 9 })
    t.ok(length <= MOST_BYTES, `${file}: ${length} bytes`)
  }
})

t.test('who uses several of them has the library once', async (t) => {
  buildClient()
  for (const file of ['react.js', 'widget-module.js']) {
    t.match(dist(`dist/${file}`).toString(), /(from|import\()"\.\/mod\.js"/, file)
    t.notMatch(dist(`dist/${file}`).toString(), /RTCPeerConnection/, file)
  }
  t.match(dist('dist/mod.js').toString(), /RTCPeerConnection/)
})

t.test('the client knows the very messages of the server', async (t) => {
  t.same(sameMessages, [true, true])
})
