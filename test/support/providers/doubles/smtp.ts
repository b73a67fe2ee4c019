import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** A mail server of our own (RFC 5321, RFC 4954), with the refusals of real ones. */
export interface SmtpDouble {
  /** For `SMTP_URL`, with the right user and password. */
  readonly url: string
  readonly port: number
  /** Mails that were taken, in order. */
  readonly mails: readonly { from: string; to: string; text: string }[]
  /** Replies to clients that were refused, in order. */
  readonly refusals: readonly string[]
  stop(): Promise<void>
}

const USER = 'patchbay'
const PASSWORD = 'mail secret'
const MAX_BYTES = 1_000_000

/** Takes mail for anybody but `unknown@…`, from who says user and password. */
export async function startSmtpDouble(): Promise<SmtpDouble> {
  const mails: { from: string; to: string; text: string }[] = []
  const refusals: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    void serve(socket).catch(() => socket.destroy())
  })

  async function serve(socket: Socket): Promise<void> {
    const say = (line: string): void => {
      if (/^[45]/.test(line)) refusals.push(line)
      socket.write(`${line}\r\n`)
    }
    let isKnown = false
    let from: string | undefined
    let to: string | undefined
    let data: string[] | undefined
    say('220 mail.example.com ESMTP')
    for await (const line of createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (data !== undefined) {
        if (line !== '.') {
          data.push(line.startsWith('.') ? line.slice(1) : line)
          continue
        }
        const text = data.join('\n')
        data = undefined
        if (text.length > MAX_BYTES) say('552 5.3.4 Message too big')
        else {
          mails.push({ from: from ?? '', to: to ?? '', text })
          say('250 2.0.0 Queued')
        }
        from = to = undefined
        continue
      }
      const [command = '', ...rest] = line.split(' ')
      const argument = rest.join(' ')
      switch (command.toUpperCase()) {
        case 'EHLO':
          socket.write('250-mail.example.com\r\n250-AUTH PLAIN\r\n')
          say(`250 SIZE ${MAX_BYTES}`)
          break
        case 'AUTH': {
          const [, user, password] = Buffer.from(rest[1] ?? '', 'base64')
            .toString()
            .split('\0')
          isKnown = user === USER && password === PASSWORD
          say(isKnown ? '235 2.7.0 Accepted' : '535 5.7.8 Authentication credentials invalid')
          break
        }
        case 'MAIL':
          from = addressIn(argument)
          if (!isKnown) say('530 5.7.0 Authentication required')
          else say('250 2.1.0 Ok')
          break
        case 'RCPT':
          to = addressIn(argument)
          if (from === undefined) say('503 5.5.1 MAIL first')
          else if (to?.startsWith('unknown@')) say('550 5.1.1 No such user here')
          else say('250 2.1.5 Ok')
          break
        case 'DATA':
          if (to === undefined || to.startsWith('unknown@')) {
            say('503 5.5.1 RCPT first')
            break
          }
          data = []
          say('354 Go ahead')
          break
        case 'RSET':
          from = to = undefined
          say('250 2.0.0 Ok')
          break
        case 'QUIT':
          say('221 2.0.0 Bye')
          socket.end()
          break
        default:
          say('502 5.5.2 Not implemented')
      }
    }
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `smtp://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}`,
    port,
    mails,
    refusals,
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** What a mail says, decoded (RFC 2047, RFC 2045). */
export function readMail(text: string): { subject: string; body: string } {
  const end = text.indexOf('\n\n')
  const head = text.slice(0, end).replace(/\n[ \t]+/g, ' ')
  const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1] ?? ''
  const subject = field('Subject')
    .replace(/\?= +=\?/g, '?==?')
    .replace(/=\?UTF-8\?([QB])\?(.*?)\?=/gi, (_, kind: string, word: string) =>
      kind.toUpperCase() === 'B' ? Buffer.from(word, 'base64').toString() : unquoted(word.replaceAll('_', ' ')),
    )
  const encoding = field('Content-Transfer-Encoding').toLowerCase()
  const body = text.slice(end + 2)
  if (encoding === 'base64') return { subject, body: Buffer.from(body, 'base64').toString() }
  return { subject, body: encoding === 'quoted-printable' ? unquoted(body.replaceAll('=\n', '')) : body }
}

const unquoted = (text: string): string =>
  Buffer.from(
    text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()

const addressIn = (argument: string): string | undefined => /<([^>]*)>/.exec(argument)?.[1]
