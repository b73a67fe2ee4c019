import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { ObjectSource } from '../../../../runtime/plugin/contract.ts'
import { runObjectStoreConformance, sourceOf } from '../../../conformance/objectstore.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { startS3Double } from '../../../support/providers/doubles/stores/s3.ts'
import { faultOfSignature } from '../../../support/providers/doubles/stores/s3-signature.ts'

const signal = new AbortController().signal
/** What the double takes for now; undefined: what it is. */
let atMs: number | undefined
const double = await startS3Double({ nowMs: () => atMs ?? Date.now() })
t.teardown(double.stop)
const folder = {
  put: unused,
  get: unused,
  has: unused,
  remove: unused,
  link: unused,
}
function unused(): never {
  throw new Error('S3 has storage of its own')
}
const open = async (env: Record<string, string> = {}, options = {}) => {
  const registry = await registryWith(t, { ...double.env, ...env }, { s3: options })
  return registry.create('objectstore', 's3', { folder })
}
const store = await open()
const key = 'recordings/w/call.wav'
const small = sourceOf(Buffer.from('small'))
const link = { expiresInS: 60, filename: 'call.wav' }

t.test('S3_BUCKET chooses the plugin, its absence the local files', async (t) => {
  t.equal((await registryWith(t, double.env)).chosen('objectstore'), 's3')
  t.equal((await registryWith(t, {})).chosen('objectstore'), 'local-files')
})

t.test('the objectstore of plugin "s3" conforms', async (t) => {
  await runObjectStoreConformance(t, { store })
  t.equal(double.openUploads, 0, 'no part is left behind')
})

t.test('large objects go in parts of at least 5 MiB, small ones in one request', async (t) => {
  double.requests.length = 0
  await store.put(key, small, 'audio/wav', signal)
  t.same(double.requests, [`PUT ${key}`])
  double.requests.length = 0
  await store.put(key, sourceOf(randomBytes(17 << 20)), 'audio/wav', signal)
  t.same(double.requests, [
    `POST ${key}?uploads`,
    `PUT ${key}?uploadId`,
    `PUT ${key}?uploadId`,
    `PUT ${key}?uploadId`,
    `POST ${key}?uploadId`,
  ])
  t.equal(double.objects.get(key)?.contentType, 'audio/wav')
})

t.test('a prefix keeps several instances apart in one bucket', async (t) => {
  const prefixed = await open({}, { prefix: 'one/two/' })
  await prefixed.put('a.wav', small, 'audio/wav', signal)
  t.ok(double.objects.has('one/two/a.wav'))
  t.equal(await store.get('a.wav', signal), undefined)
})

t.test('an address ends when it should, and can name another host than the one uploads go to', async (t) => {
  t.teardown(() => {
    atMs = undefined
  })
  await store.put(key, small, 'audio/wav', signal)
  const url = (await store.url(key, link, signal)) ?? ''
  const [year, month, day, hour, minute, second] =
    /Date=(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/.exec(url)?.slice(1) ?? []
  const signedMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`)
  t.ok(Math.abs(Date.now() - signedMs) < 120_000, `signed at ${signedMs}`)
  atMs = signedMs + 60_000
  t.equal((await fetch(url)).status, 200)
  atMs = signedMs + 60_001
  t.equal((await fetch(url)).status, 403)
  atMs = undefined
  const outside = await open({ S3_PUBLIC_ENDPOINT: 'https://media.example.com' })
  t.match(await outside.url(key, link, signal), /^https:\/\/media\.example\.com\/patchbay-test\/recordings/)
})

t.test('the provider’s faults are told in its words, judged, and hide the key', async (t) => {
  t.teardown(() => double.faults.clear())
  for (const [fault, message, retryable] of [
    [
      { kind: 'refuse', status: 403, code: 'AccessDenied', message: 'No.' },
      /S3 refused the key \(403\).*S3_SECRET/,
      false,
    ],
    [{ kind: 'refuse', status: 503, code: 'SlowDown' }, /S3 has a fault of its own \(503\)/, true],
    [{ kind: 'refuse', status: 500, code: 'InternalError' }, /S3 has a fault of its own \(500\)/, true],
    [
      { kind: 'refuse', status: 404, code: 'NoSuchBucket', message: 'No bucket.' },
      /S3 refused the request.*No bucket/,
      false,
    ],
    [{ kind: 'disconnect', after: 0 }, /S3 could not be reached or broke off/, true],
  ] as const) {
    double.faults.set(fault)
    for (const use of [
      () => store.put(key, small, 'audio/wav', signal),
      () => store.get(key, signal),
      () => store.remove(key, signal),
    ]) {
      const error = await use().then(
        () => undefined,
        (error: unknown) => error as { name: string; message: string; failure: { retryable: boolean } },
      )
      t.equal(error?.name, 'ProviderError', `${fault.kind}: ${error?.message}`)
      t.match(error?.message, message)
      t.equal(error?.failure.retryable, retryable)
    }
  }
  double.faults.set({ kind: 'refuse', status: 301, code: 'PermanentRedirect' })
  await t.rejects(store.get(key, signal), /the bucket is elsewhere; correct S3_ENDPOINT/)
})

t.test('a completion that fails after its 200 is a failure, and the parts are given up', async (t) => {
  const large = sourceOf(randomBytes(9 << 20))
  const before = double.requests.length
  const failingAtTheEnd: ObjectSource = {
    size: large.size,
    bytes(start, end) {
      if (end === large.size) double.failCompletion()
      return large.bytes(start, end)
    },
  }
  await t.rejects(store.put('late.wav', failingAtTheEnd, 'audio/wav', signal), /S3 has a fault of its own/)
  t.match(double.requests.slice(before), ['POST late.wav?uploads', /PUT/, /PUT/, 'POST late.wav?uploadId', /DELETE/])
  t.equal(double.openUploads, 0)
  t.notOk(double.objects.has('late.wav'))
})

t.test('a wrong secret, region or address is refused as such; a server nobody runs is unreachable', async (t) => {
  const wrong = await open({ S3_SECRET_ACCESS_KEY: 'wrong' })
  await t.rejects(wrong.put(key, small, 'audio/wav', signal), /S3 refused the key \(403\)/)
  const elsewhere = await open({ S3_REGION: 'us-east-1' })
  await t.rejects(elsewhere.put(key, small, 'audio/wav', signal), /S3 refused the request \(400\)/)
  const nowhere = await open({ S3_ENDPOINT: 'http://127.0.0.1:9' })
  await t.rejects(nowhere.get(key, signal), /S3 could not be reached/)
  await t.rejects(open({ S3_ENDPOINT: 'nonsense' }))
  await t.rejects(open({ S3_ACCESS_KEY_ID: '' }), /S3_ACCESS_KEY_ID is not set/)
  const registry = await registryWith(t, double.env)
  t.type(await registry.check('s3'), 'number')
})

t.test('the double’s signatures are those of Amazon’s own examples', async (t) => {
  const amazon = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  }
  const nowMs = Date.parse('2013-05-24T00:00:30Z')
  const query = [
    'X-Amz-Algorithm=AWS4-HMAC-SHA256',
    'X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request',
    'X-Amz-Date=20130524T000000Z',
    'X-Amz-Expires=86400',
    'X-Amz-SignedHeaders=host',
    'X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  ]
  const headers = { host: 'examplebucket.s3.amazonaws.com' }
  const presigned = { method: 'GET', url: `/test.txt?${query.join('&')}`, headers }
  t.equal(faultOfSignature(presigned, Buffer.alloc(0), amazon, nowMs), undefined)
  t.equal(faultOfSignature({ ...presigned, method: 'PUT' }, Buffer.alloc(0), amazon, nowMs), 'SignatureDoesNotMatch')
  const listing = {
    method: 'GET',
    url: '/?max-keys=2&prefix=J',
    headers: {
      ...headers,
      'x-amz-date': '20130524T000000Z',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;x-amz-content-sha256;x-amz-date,Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    },
  }
  t.equal(faultOfSignature(listing, Buffer.alloc(0), amazon, nowMs), undefined)
})
