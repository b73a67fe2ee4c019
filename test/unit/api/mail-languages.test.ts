import t from 'tap'
import { startTestApi } from '../../support/instance/api.ts'
import { until } from '../../support/instance/realtime-node.ts'
import { readMail, startSmtpDouble } from '../../support/providers/doubles/smtp.ts'

const smtp = await startSmtpDouble()
t.teardown(() => smtp.stop())
const api = await startTestApi(t, { env: { SMTP_URL: smtp.url } })
/** The first: an operator. */
const ada = await api.signUp()

/** The subject of the mail to this address that is not among `before` of them. */
async function nextSubject(to: string, before: number): Promise<string> {
  const mails = () => smtp.mails.filter((mail) => mail.to === to)
  await until(() => mails().length === before + 1)
  return readMail(mails()[before]!.text).subject
}

t.test('a mail is in the language of the browser until its reader chooses one', async (t) => {
  const body = { name: 'Zoë', email: 'zoe@example.com', password: 'correct horse', phone_number: '+14155550123' }
  const browser = (tags: string) => ({ headers: { 'accept-language': tags } })
  const zoe = api.client()
  const signedUp = await zoe.post('/auth/signup', { body, ...browser('nl-BE,nl;q=0.9,en;q=0.5') })
  t.match(signedUp, { status: 201, body: { language: null } })
  t.equal(await nextSubject(body.email, 0), 'E-mailadres bevestigen')
  const forgotten = (tags: string) =>
    api.client().post('/auth/password/forgotten', { body: { email: body.email }, ...browser(tags) })
  await forgotten('ja')
  t.equal(await nextSubject(body.email, 1), 'パスワードの再設定')

  const login = (tags: string) =>
    zoe.post('/auth/login', { body: { email: body.email, password: body.password }, ...browser(tags) })
  t.match((await login('ko')).body, { user: { language: null } }, 'none is learnt that no mail is written in')
  t.match((await login('nl-BE')).body, { user: { language: 'nl' } })
  t.match((await login('de')).body, { user: { language: 'nl' } }, 'the first stays')
  await forgotten('de')
  t.equal(await nextSubject(body.email, 2), 'Wachtwoord opnieuw instellen', 'the stored language wins')

  t.match(await zoe.patch('/auth/me', { body: { language: 'fr' } }), { status: 200, body: { language: 'fr' } })
  t.equal((await zoe.get('/auth/me')).body.language, 'fr')
  await zoe.post('/auth/email/verification', browser('de'))
  t.equal(await nextSubject(body.email, 3), 'Confirmation de votre adresse e-mail')
  t.equal((await zoe.patch('/auth/me', { body: { language: 'tlh' } })).status, 422)
  t.match((await zoe.patch('/auth/me', { body: { language: null } })).body, { language: null })
})

t.test('an invitation is in the language of who invites', async (t) => {
  await ada.client.patch('/auth/me', { body: { language: 'tr' } })
  const email = 'grace@example.com'
  const path = `/workspaces/${ada.workspaceId}/invitation-links`
  t.equal((await ada.client.post(path, { body: { email, role: 'member' } })).status, 201)
  t.equal(await nextSubject(email, 0), 'Davetiniz')
  await ada.client.patch('/auth/me', { body: { language: null } })
  const invited = { body: { email }, headers: { 'accept-language': 'hi-IN' } }
  const operator = await ada.client.post('/operator/invitations', invited)
  t.equal(operator.status, 201)
  t.equal(await nextSubject(email, 1), 'आपका आमंत्रण')
})
