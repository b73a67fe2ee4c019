import t from 'tap'
import { openMailer } from '../../../runtime/process/mail.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { until } from '../../support/instance/realtime-node.ts'
import { startSmtpDouble } from '../../support/providers/doubles/smtp.ts'

t.test('a forgotten password is chosen anew by a link in a mail, which proves the address', async (t) => {
  const smtp = await startSmtpDouble()
  t.teardown(() => smtp.stop())
  const api = await startTestApi(t, { env: { SMTP_URL: smtp.url } })
  const ada = await api.signUp()
  const forgotten = (email: string) => api.client().post('/auth/password/forgotten', { body: { email } })
  const [known, unknown] = [await forgotten(ada.email), await forgotten('nobody@example.com')]
  t.same([known.status, known.text], [unknown.status, unknown.text], 'the answer tells nobody who has an account')
  const ofReset = () => smtp.mails.filter(({ text }) => text.includes('Reset your password'))
  await until(() => ofReset().length === 1)
  t.match(ofReset()[0], { to: ada.email })
  const text = (ofReset()[0]?.text ?? '').replaceAll('=\n', '').replaceAll('=3D', '=')
  const [, token] = /#token=([\w-]+)/.exec(text) ?? []
  const chosen = await api.client().post('/auth/password/reset', { body: { token, new_password: 'battery staple' } })
  t.equal(chosen.status, 200, text)
  const login = (password: string) => api.client().post('/auth/login', { body: { email: ada.email, password } })
  t.same([(await login(ada.password)).status, (await login('battery staple')).status], [401, 200])
  t.notOk(smtp.mails.some(({ to }) => to === 'nobody@example.com'))
})

t.test('a mail that its server refuses is refused to whoever sends it, in the server’s words', async (t) => {
  const smtp = await startSmtpDouble()
  t.teardown(() => smtp.stop())
  const mail = { subject: 'Hello', text: 'Hello' }
  const mailer = await openMailer(smtp.url, 'patchbay@example.com')
  t.teardown(() => mailer.close())
  await t.rejects(mailer.send({ ...mail, to: 'unknown@example.com' }), /No such user here/)
  await mailer.send({ ...mail, to: 'ada@example.com' })
  t.match(smtp.mails, [{ from: 'patchbay@example.com', to: 'ada@example.com', text: /Hello/ }])
  const stranger = await openMailer(`smtp://patchbay:wrong@127.0.0.1:${smtp.port}`, 'patchbay@example.com')
  t.teardown(() => stranger.close())
  await t.rejects(stranger.send({ ...mail, to: 'ada@example.com' }), /credentials invalid/)
  const nobody = await openMailer(`smtp://127.0.0.1:${smtp.port}`, 'patchbay@example.com')
  t.teardown(() => nobody.close())
  await t.rejects(nobody.send({ ...mail, to: 'ada@example.com' }), /Authentication required/)
  t.equal(smtp.mails.length, 1)
  await t.rejects(openMailer('http://example.com', 'x'), { code: 'configuration' })
})

t.test('mail goes without TLS to this machine alone, or where the operator says so', async (t) => {
  const smtp = await startSmtpDouble()
  t.teardown(() => smtp.stop())
  const send = async (url: string) => {
    const mailer = await openMailer(url, 'patchbay@example.com')
    await mailer.send({ to: 'ada@example.com', subject: 'Hello', text: 'Hello' }).finally(() => mailer.close())
  }
  const elsewhere = smtp.url.replace('127.0.0.1', '[::ffff:127.0.0.1]')
  await t.rejects(send(elsewhere), /STARTTLS/i)
  await t.rejects(send(`${smtp.url}?requireTLS=true`), /STARTTLS/i)
  t.same(smtp.mails, [])
  await send(`${elsewhere}?requireTLS=false`)
  await send(smtp.url)
  t.equal(smtp.mails.length, 2)
})

t.test('a server that refuses or is away ends no request', async (t) => {
  const smtp = await startSmtpDouble()
  const api = await startTestApi(t, { env: { SMTP_URL: smtp.url } })
  const ada = await api.signUp()
  await smtp.stop()
  const asked = await api.client().post('/auth/password/forgotten', { body: { email: ada.email } })
  t.equal(asked.status, 200)
  t.equal((await ada.client.get('/auth/me')).status, 200)
})
