import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { ObjectSource, ObjectStore, StoredObject } from '../../runtime/plugin/contract.ts'

export interface ObjectStoreSuite {
  store: ObjectStore
}

const signal = new AbortController().signal
const MIB = 1024 * 1024

/** Bytes as the core offers them. */
export const sourceOf = (bytes: Uint8Array): ObjectSource => ({
  size: bytes.length,
  bytes: async (start, end) => bytes.subarray(start, end),
})

export async function bytesOfObject(stored: StoredObject | undefined): Promise<Buffer | undefined> {
  if (stored === undefined) return undefined
  const parts: Uint8Array[] = []
  for await (const part of stored.body) parts.push(part)
  return Buffer.concat(parts)
}

/** What every object store must do, whoever provides it. */
export async function runObjectStoreConformance(t: Test, { store }: ObjectStoreSuite): Promise<void> {
  let keys = 0
  const newKey = () => `recordings/workspace-1/object_${++keys}.wav`
  const put = (key: string, bytes: Uint8Array) => store.put(key, sourceOf(bytes), 'audio/wav', signal)
  const link = { expiresInS: 60, filename: 'call.wav' }

  for (const [what, size] of [
    ['an empty object', 0],
    ['a small object', 1_000],
    ['an object of many parts', 20 * MIB + 7],
  ] as const) {
    await t.test(`${what} is kept to the byte`, async (t) => {
      const key = newKey()
      const bytes = randomBytes(size)
      await put(key, bytes)
      const stored = await store.get(key, signal)
      t.equal(stored?.size, size)
      t.ok((await bytesOfObject(stored))?.equals(bytes))
      await store.remove(key, signal)
    })
  }

  await t.test('a second put replaces the first, and another key is another object', async (t) => {
    const [key, other] = [newKey(), newKey()]
    await put(key, Buffer.from('one, the longer'))
    await put(other, Buffer.from('other'))
    await put(key, Buffer.from('two'))
    t.equal((await bytesOfObject(await store.get(key, signal)))?.toString(), 'two')
    t.equal((await bytesOfObject(await store.get(other, signal)))?.toString(), 'other')
  })

  await t.test('a part of an object is read alone, and the size is that of the whole', async (t) => {
    const key = newKey()
    const bytes = randomBytes(3 * MIB)
    await put(key, bytes)
    const part = await store.get(key, signal, { start: MIB - 3, end: 2 * MIB + 5 })
    t.equal(part?.size, bytes.length)
    t.ok((await bytesOfObject(part))?.equals(bytes.subarray(MIB - 3, 2 * MIB + 5)))
    t.equal(await store.get(newKey(), signal, { start: 0, end: 10 }), undefined)
  })

  await t.test('its address serves it to anyone, under the name given', async (t) => {
    const key = newKey()
    const bytes = randomBytes(100_000)
    await put(key, bytes)
    const response = await fetch((await store.url(key, link, signal)) ?? '')
    t.equal(response.status, 200)
    t.match(response.headers.get('content-type'), /^audio\/wav/)
    t.match(response.headers.get('content-disposition'), /filename="call\.wav"/)
    t.ok(Buffer.from(await response.arrayBuffer()).equals(bytes))
  })

  await t.test('an address that was changed serves nothing', async (t) => {
    const [key, other] = [newKey(), newKey()]
    await put(key, Buffer.from('mine'))
    await put(other, Buffer.from('not mine'))
    const url = (await store.url(key, link, signal)) ?? ''
    const middle = Math.floor(url.length / 2)
    for (const changed of [
      `${url.slice(0, -1)}${url.at(-1) === '0' ? '1' : '0'}`,
      `${url.slice(0, middle)}${url[middle] === 'A' ? 'B' : 'A'}${url.slice(middle + 1)}`,
      url.replace(key, other),
    ].filter((changed) => changed !== url)) {
      const response = await fetch(changed)
      t.ok(response.status >= 400 && response.status < 500, `${response.status} for ${changed}`)
      t.notMatch(await response.text(), /mine/)
    }
  })

  await t.test('what is not there is undefined, and removing it is no error', async (t) => {
    const key = newKey()
    t.equal(await store.get(key, signal), undefined)
    t.equal(await store.url(key, link, signal), undefined)
    await store.remove(key, signal)
    await put(key, Buffer.from('there'))
    await store.remove(key, signal)
    t.equal(await store.get(key, signal), undefined)
    t.equal(await store.url(key, link, signal), undefined)
  })

  await t.test('no key leads out of the store', async (t) => {
    for (const key of [
      '../x',
      'a/../../x',
      '/etc/x',
      'a//b',
      'a/./b',
      '',
      '.hidden',
      'a/\0b',
      'a%2f..%2fb',
      'a\\b',
      'é',
    ]) {
      await t.rejects(put(key, Buffer.from('x')), { code: 'plugin' }, `put ${JSON.stringify(key)}`)
      await t.rejects(store.get(key, signal), { code: 'plugin' })
      await t.rejects(store.url(key, link, signal), { code: 'plugin' })
      await t.rejects(store.remove(key, signal), { code: 'plugin' })
    }
  })

  await t.test('a source that fails leaves no object, and the old one stays', async (t) => {
    const key = newKey()
    await put(key, Buffer.from('old'))
    const failing: ObjectSource = {
      size: 20 * MIB,
      async bytes(start, end) {
        if (start > 8 * MIB) throw new Error('the disk is gone')
        return new Uint8Array(end - start)
      },
    }
    await t.rejects(store.put(key, failing, 'audio/wav', signal), /the disk is gone/)
    t.equal((await bytesOfObject(await store.get(key, signal)))?.toString(), 'old')
  })

  await t.test('a put whose signal aborts rejects and keeps nothing', async (t) => {
    const key = newKey()
    const abort = new AbortController()
    const reason = new Error('stop')
    const source: ObjectSource = {
      size: 20 * MIB,
      async bytes(start, end) {
        if (start > 0) abort.abort(reason)
        return new Uint8Array(end - start)
      },
    }
    await t.rejects(store.put(key, source, 'audio/wav', abort.signal), reason)
    t.equal(await store.get(key, signal), undefined)
    await t.rejects(store.get(key, AbortSignal.abort(reason)), reason)
  })
}
