import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'

/** Certificates made for one test: an authority, and servers it vouches for (RFC 5280, ECDSA on P-256). */

const OID = {
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
  commonName: [0x55, 0x04, 0x03],
  basicConstraints: [0x55, 0x1d, 0x13],
  subjectAltName: [0x55, 0x1d, 0x11],
}
const DAY_MS = 86_400_000

export interface Authority {
  /** Its own certificate, PEM. */
  readonly cert: string
  /** A server's key and certificate, PEM. `names` are DNS names and IP addresses. */
  issue(names: readonly string[], validDays?: { from: number; to: number }): { key: string; cert: string }
}

export function makeAuthority(name = 'Test authority'): Authority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const sign = (subject: string, publicKey: KeyObject, extensions: Buffer[], days: { from: number; to: number }) =>
    certificate({ issuer: name, subject, publicKey, extensions, days }, keys.privateKey)
  const isAuthority = extension(OID.basicConstraints, sequence(der(0x01, [0xff])))
  return {
    cert: sign(name, keys.publicKey, [isAuthority], { from: -1, to: 1 }),
    issue(names, days = { from: -1, to: 1 }) {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const alternatives = names.map((one) =>
        isIP(one) === 4 ? der(0x87, one.split('.').map(Number)) : der(0x82, Buffer.from(one)),
      )
      const cert = sign(names[0] ?? '', own.publicKey, [extension(OID.subjectAltName, sequence(...alternatives))], days)
      return { key: String(own.privateKey.export({ type: 'pkcs8', format: 'pem' })), cert }
    },
  }
}

function certificate(
  parts: {
    issuer: string
    subject: string
    publicKey: KeyObject
    extensions: Buffer[]
    days: { from: number; to: number }
  },
  key: KeyObject,
): string {
  const { issuer, subject, publicKey, extensions, days } = parts
  const algorithm = sequence(der(0x06, OID.ecdsaWithSha256))
  const body = sequence(
    der(0xa0, der(0x02, [2])),
    der(0x02, [0x01, ...randomBytes(15)]),
    algorithm,
    nameOf(issuer),
    sequence(timeOf(days.from), timeOf(days.to)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signature = createSign('sha256').update(body).sign(key)
  const all = sequence(body, algorithm, der(0x03, [0, ...signature]))
  const lines = all.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function nameOf(name: string): Buffer {
  return sequence(der(0x31, sequence(der(0x06, OID.commonName), der(0x0c, Buffer.from(name)))))
}

function timeOf(days: number): Buffer {
  const text = new Date(Date.now() + days * DAY_MS).toISOString().replace(/[-:T]|\.\d+/g, '')
  return der(0x18, Buffer.from(text))
}

function extension(id: number[], value: Buffer): Buffer {
  return sequence(der(0x06, id), der(0x04, value))
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts))
}

/** A value of ASN.1 with its tag and length. */
function der(tag: number, value: Uint8Array | number[]): Buffer {
  const bytes = Buffer.from(value)
  const length =
    bytes.length < 0x80
      ? [bytes.length]
      : bytes.length < 0x100
        ? [0x81, bytes.length]
        : [0x82, bytes.length >> 8, bytes.length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...length]), bytes])
}
