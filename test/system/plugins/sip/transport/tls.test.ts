import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import net from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { testFolder } from '../../../../support/instance/services.ts'
import { callWhen, isOver, linkWorker } from '../../../../support/phone/phone.ts'
import { makeAuthority } from '../../../../support/sip/certificates.ts'
import { freePort, freePortPair, skipWithout, startBaresip } from '../../../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../../../support/sip/sip-phone.ts'

const skip = skipWithout('baresip')
const authority = makeAuthority()
const stranger = makeAuthority('Another authority')
const SILENCE = new Int16Array(8_000 * 120)
const CALLEE = '+14155550177'

/** Files of a server's key and certificate, and of the authority that vouches for it. */
async function filesOf(t: Test, from = authority, names = ['127.0.0.1'], days?: { from: number; to: number }) {
  const folder = await testFolder(t)
  const { key, cert } = from.issue(names, days)
  const files = {
    key: join(folder, 'key.pem'),
    cert: join(folder, 'cert.pem'),
    both: join(folder, 'both.pem'),
    ca: join(folder, 'ca.pem'),
  }
  await Promise.all([
    writeFile(files.key, key),
    writeFile(files.cert, cert),
    writeFile(files.both, cert + key),
    writeFile(files.ca, from.cert),
  ])
  return { folder, ...files }
}

t.test('calls over TLS, against baresip', { skip }, async (t) => {
  const [tlsPort, adminPort] = [await freePort(), await freePort()]
  const own = await filesOf(t)
  const sip = await startSipApi(t, {
    env: { PATCHBAY_ALLOW_LISTEN: `sip:${tlsPort}`, PATCHBAY_ADMIN_PORT: String(adminPort) },
    plugins: {
      sip: {
        options: { tls: { port: tlsPort, key: own.key, cert: own.cert } },
        grant: { read: [own.folder] },
      },
    },
  })
  await linkWorker(t, sip.api)
  const { number } = await addSipNumber(sip)

  t.test('a softphone calls, and is answered', async (t) => {
    const { both, ca } = await filesOf(t)
    const phone = await startBaresip(t, { says: SILENCE, tls: { certificate: both, ca } })
    phone.command('dial', `sip:${number}@127.0.0.1:${tlsPort};transport=tls`)
    await phone.event('CALL_ESTABLISHED')
    const { call_log_id } = (await sip.user.client.get('/calls/logs')).body.items[0]
    const greeted = ({ transcript }: Record<string, unknown>) => JSON.stringify(transcript).includes('this is Ada')
    await callWhen(sip.user, call_log_id, greeted)
    phone.command('hangup')
    t.match(await callWhen(sip.user, call_log_id, isOver), { status: 'completed', end_reason: 'caller_hangup' })
  })

  t.test('who speaks no TLS on its port is cut off, and counted', async (t) => {
    const socket = net.connect(tlsPort, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(`OPTIONS sip:${number}@127.0.0.1 SIP/2.0\r\n\r\n`)
    await once(socket, 'close')
    const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
    t.match(metrics, /patchbay_carrier_refusals_total\{provider="sip",reason="no_tls"\} 1/)
  })

  let trunks = 0
  /** Has an agent call a softphone over a trunk. */
  const dial = async (t: Test, trunk: Record<string, unknown>, files: Awaited<ReturnType<typeof filesOf>>) => {
    const port = await freePortPair()
    const phone = await startBaresip(t, {
      ...{ says: SILENCE, autoAnswer: true, port },
      tls: { certificate: files.both, ca: files.ca },
    })
    const host = `127.0.0.1:${port + 1}`
    const made = await addSipNumber(sip, { name: `tls-${++trunks}`, host, transport: 'tls', ...trunk })
    const { body } = await sip.user.client.post('/calls/outbound_call', {
      body: { agent_phone_number: made.number, phone_number_to_dial: CALLEE },
    })
    return { phone, callLogId: body.call_log_id as string }
  }

  t.test('an agent calls over a trunk that brings its own authority', async (t) => {
    const { phone, callLogId } = await dial(t, { tls_ca: authority.cert }, await filesOf(t))
    await phone.event('CALL_ESTABLISHED')
    await callWhen(sip.user, callLogId, ({ status }) => status === 'in_progress')
    await sip.user.client.post(`/calls/${callLogId}/hangup`)
    await phone.event('CALL_CLOSED')
    t.match(await callWhen(sip.user, callLogId, isOver), { status: 'completed', end_reason: 'api_hangup' })
  })

  const refused = {
    'signed by nobody we trust': {
      trunk: {},
      files: [],
      error: /is signed by nobody we trust; set the trunk's tls_ca/,
    },
    'of another authority than the trunk names': {
      trunk: { tls_ca: stranger.cert },
      files: [],
      error: /is signed by nobody we trust/,
    },
    'for another name': {
      trunk: { tls_ca: authority.cert },
      files: [authority, ['sip.example.com']],
      error: /is for another name/,
    },
    'that has expired': {
      trunk: { tls_ca: authority.cert },
      files: [authority, ['127.0.0.1'], { from: -3, to: -2 }],
      error: /has expired/,
    },
  } as const
  for (const [which, { trunk, files, error }] of Object.entries(refused)) {
    t.test(`a certificate ${which} is refused, and the operator told so`, async (t) => {
      const made = await filesOf(t, ...(files as unknown as [typeof authority]))
      const { callLogId } = await dial(t, trunk, made)
      const call = await callWhen(sip.user, callLogId, isOver)
      t.match(call, { status: 'failed', end_reason: 'carrier_error', error })
      t.match(call.error, /^SIP error: trunk "tls-\d" can not be reached: the certificate of "127\.0\.0\.1:\d+"/)
    })
  }
})
