import t from 'tap'
import { LANGUAGES } from '../../../../runtime/conversation/languages/index.ts'
import {
  invitationMail,
  MAIL_LANGUAGES,
  type MailText,
  passwordResetMail,
  verificationMail,
  webhookOffMail,
} from '../../../../runtime/process/mail-texts.ts'

const link = 'https://voice.example.com/account/signup#token=Qm9vbGVhbiBsb2dpYw'
const address = 'https://voice.example.com'
const invitation = { inviter: 'ada@example.com', address, link }
const webhookOff = { url: 'https://crm.example.com/hooks', page: `${address}/console/developers/webhooks/1` }

const MAILS: readonly (readonly [write: (language?: string | null) => MailText, named: readonly string[]])[] = [
  [(language) => passwordResetMail(language, { link }), [link]],
  [(language) => verificationMail(language, { link }), [link]],
  [(language) => invitationMail(language, { ...invitation, to: 'installation' }), Object.values(invitation)],
  [(language) => invitationMail(language, { ...invitation, to: 'workspace' }), Object.values(invitation)],
  [
    (language) => webhookOffMail(language, { ...webhookOff, fault: 'gone' }),
    [...Object.values(webhookOff), '410 Gone'],
  ],
  [(language) => webhookOffMail(language, { ...webhookOff, fault: 'failing' }), Object.values(webhookOff)],
]

t.test('mails are written in each language that agents speak', async (t) => {
  t.same(
    MAIL_LANGUAGES,
    LANGUAGES.map(({ code }) => code),
  )
})

t.test('a mail names what it is about in each language, once, and no two languages say the same', async (t) => {
  for (const [write, named] of MAILS) {
    const mails = MAIL_LANGUAGES.map(write)
    for (const language of MAIL_LANGUAGES) {
      const { subject, text } = write(language)
      for (const name of named)
        t.equal(text.split(name === address ? `${name}/` : name).length, 2, `${language}: ${name}`)
      t.match(text, /^\S.*\n\n[^{}]+\n$/s, language)
      t.notMatch(`${subject} ${text}`, /undefined|\$|Hello.*Hallo/, language)
      t.notMatch(subject, /[\n\r]/)
    }
    t.equal(new Set(mails.map(({ subject }) => subject)).size, MAIL_LANGUAGES.length)
    t.equal(new Set(mails.map(({ text }) => text)).size, MAIL_LANGUAGES.length)
  }
})

t.test('who is of no known language, or of one of a later version, reads English', async (t) => {
  for (const [write] of MAILS)
    for (const language of [null, undefined, 'xx', 'constructor']) t.same(write(language), write('en'))
})
