import { once } from 'node:events'
import { readdir, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { LocalFiles } from '../../../../plugins/local-files/local-files.ts'
import { objectFolder, objectPath, readObject } from '../../../../store/objects/object-folder.ts'
import { openLinkSigner } from '../../../../store/objects/object-links.ts'
import { runObjectStoreConformance, sourceOf } from '../../../conformance/objectstore.ts'
import { testFolder } from '../../../support/instance/services.ts'

const signal = new AbortController().signal
const dataDir = await testFolder(t)
let nowMs = Date.now()
const signer = openLinkSigner('a secret of at least 32 characters', () => nowMs)

/** What the api does with a link, without the rest of it (test/unit/api/calls/recording.test.ts has the real one). */
const server = createServer(async (request, response) => {
  try {
    const { key, filename } = signer.open(decodeURIComponent(request.url?.split('/')[2] ?? ''))
    const object = await readObject(objectPath(dataDir, key), signal)
    if (object === undefined) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'audio/wav', 'content-disposition': `inline; filename="${filename}"` })
    for await (const piece of object.body) response.write(piece)
    return response.end()
  } catch {
    return response.writeHead(401).end()
  }
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const store = new LocalFiles(objectFolder(dataDir, () => url, signer))

t.test('the objectstore of plugin "local-files" conforms', (t) => runObjectStoreConformance(t, { store }))

t.test('an address ends when it should', async (t) => {
  await store.put('a.wav', sourceOf(Buffer.from('a')), 'audio/wav', signal)
  const link = (await store.url('a.wav', { expiresInS: 60, filename: 'a.wav' }, signal)) ?? ''
  nowMs += 59_000
  t.equal((await fetch(link)).status, 200)
  nowMs += 1_500
  t.equal((await fetch(link)).status, 401)
})

t.test('a put that fails leaves no file behind, not even a part', async (t) => {
  const failing = {
    size: 3 << 20,
    bytes: async (start: number, end: number) => {
      if (start > 0) throw new Error('gone')
      return new Uint8Array(end - start)
    },
  }
  await t.rejects(store.put('broken/b.wav', failing, 'audio/wav', signal), /gone/)
  t.same(await readdir(join(dataDir, 'objects/broken')), [])
})

t.test('a folder is no object, and the secrets beside the objects are out of reach', async (t) => {
  await writeFile(join(dataDir, 'jwt_api_secret'), 'secret')
  await store.put('folder/c.wav', sourceOf(Buffer.from('c')), 'audio/wav', signal)
  t.equal(await store.get('folder', signal), undefined)
  t.equal(await store.url('folder', { expiresInS: 60, filename: 'x' }, signal), undefined)
  await t.rejects(store.get('../jwt_api_secret', signal), { code: 'plugin' })
  await symlink(join(dataDir, 'nowhere'), join(dataDir, 'objects/dangling'))
  t.equal(await store.get('dangling', signal), undefined)
})
