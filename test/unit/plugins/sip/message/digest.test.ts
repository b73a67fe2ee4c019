import t from 'tap'
import {
  answerChallenge,
  type Challenge,
  chooseChallenge,
  digestResponse,
  formatChallenge,
  parseDigestAnswer,
  verifyAnswer,
} from '../../../../../plugins/sip/message/digest.ts'

const NOTHING = new Uint8Array()
const MUFASA = { username: 'Mufasa', password: 'Circle of Life' }

/** RFC 7616, section 3.9.1. */
const rfc7616 = {
  realm: 'http-auth@example.org',
  nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
  uri: '/dir/index.html',
  session: false,
  qop: 'auth',
  nc: '00000001',
  cnonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ',
}

t.test("RFC 7616's examples come out, MD5 and SHA-256", async (t) => {
  t.equal(digestResponse({ ...rfc7616, algorithm: 'MD5' }, MUFASA, 'GET', NOTHING), '8ca523f5e9506fed4657c9700eebdbec')
  t.equal(
    digestResponse({ ...rfc7616, algorithm: 'SHA-256' }, MUFASA, 'GET', NOTHING),
    '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1',
  )
})

t.test("RFC 2617's example comes out, and the old digest without qop", async (t) => {
  const answer = {
    algorithm: 'MD5',
    session: false,
    realm: 'testrealm@host.com',
    nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
    uri: '/dir/index.html',
    qop: 'auth',
    nc: '00000001',
    cnonce: '0a4f113b',
  } as const
  const credentials = { username: 'Mufasa', password: 'Circle Of Life' }
  t.equal(digestResponse(answer, credentials, 'GET', NOTHING), '6629fae49393a05397450978507c4ef1')
  t.equal(
    digestResponse({ ...answer, qop: undefined, nc: undefined, cnonce: undefined }, credentials, 'GET', NOTHING),
    '670fd8c2df070c60b045671b8b24ff02',
  )
})

t.test('the strongest challenge is answered, unknown ones are passed over (RFC 8760)', async (t) => {
  const chosen = chooseChallenge([
    'Digest realm="a", nonce="1", algorithm=MD5, qop="auth"',
    'Basic realm="a"',
    'Digest realm="a", nonce="2", algorithm=SHA-256, qop="auth,auth-int", opaque="o,\\"p", stale=TRUE',
    'Digest realm="a", nonce="3", algorithm=BLAKE3',
  ])
  t.match(chosen, { nonce: '2', algorithm: 'SHA-256', opaque: 'o,"p', stale: true })
  t.same(chosen?.qop, ['auth', 'auth-int'])
  t.equal(chooseChallenge(['Basic realm="a"']), undefined)
  t.equal(chooseChallenge(['Digest realm="a", nonce="1", qop="token"']), undefined)
})

t.test('an answer fits its credentials and request, and no others', async (t) => {
  const body = Buffer.from('v=0')
  for (const algorithm of ['MD5', 'SHA-256', 'SHA-512-256'] as const) {
    for (const qop of [[], ['auth'], ['auth-int']]) {
      for (const session of [false, true]) {
        const challenge: Challenge = { realm: 'r"x', nonce: 'n', algorithm, session, opaque: 'o', qop, stale: false }
        const request = { method: 'INVITE', uri: 'sip:a@b.example', body }
        const value = answerChallenge(challenge, MUFASA, request, 'abc', 2)
        const answer = parseDigestAnswer(value)!
        t.match(answer, { username: 'Mufasa', realm: 'r"x', uri: 'sip:a@b.example', opaque: 'o', algorithm, session })
        if (qop.length > 0) t.equal(answer.nc, '00000002')
        t.ok(verifyAnswer(answer, MUFASA, request))
        t.notOk(verifyAnswer(answer, { ...MUFASA, password: 'x' }, request))
        t.notOk(verifyAnswer(answer, MUFASA, { ...request, method: 'BYE' }))
        t.notOk(verifyAnswer({ ...answer, response: 'ab' }, MUFASA, request))
        const changed = verifyAnswer(answer, MUFASA, { ...request, body: Buffer.from('v=1') })
        t.equal(changed, qop[0] !== 'auth-int')
      }
    }
  }
})

t.test('our own challenge can be answered', async (t) => {
  const challenge = chooseChallenge([
    formatChallenge({ realm: 'patchbay', nonce: 'abc', algorithm: 'SHA-256', stale: true }),
  ])
  t.match(challenge, { realm: 'patchbay', nonce: 'abc', algorithm: 'SHA-256', stale: true })
})

t.test('malformed digests are refused, those of other schemes are not ours', async (t) => {
  t.throws(() => parseDigestAnswer('Digest realm="a'), { name: 'SipParseError' })
  t.throws(() => parseDigestAnswer('Digest realm=a, realm=b'), { name: 'SipParseError' })
  t.equal(parseDigestAnswer('NoOneKnowsThisScheme opaque-data=here'), undefined)
  t.equal(parseDigestAnswer('Digest realm="a", nonce="b"'), undefined)
})
