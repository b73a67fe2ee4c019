import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** Keeps secrets of users in the database: AES-256-GCM with a key derived from the instance's own secret. */
export interface SecretBox {
  /** `label` says whose secret it is: sealed text that was moved to another row doesn't open. */
  seal(text: string, label: string): string
  /** Undefined when it was sealed under another secret, for another label, or was changed. */
  open(sealed: string, label: string): string | undefined
}

/** A secret that is needed was sealed under another key, or was changed. */
export class UnopenedSecret extends Error {
  override readonly name = 'UnopenedSecret'

  /** @param what names it for the one who can set it again, such as `the header "authorization"` */
  constructor(what: string) {
    super(`${what} cannot be opened with the data key of this installation; set it again`)
  }
}

const IV_BYTES = 12
const TAG_BYTES = 16
const VERSION = 'v1.'

/** The operator's keys as the configuration has them: the first one seals, every one opens. */
export interface DataKeys {
  readonly dataKey: string
  readonly dataKeyOld?: readonly string[] | undefined
}

/** @param purpose separates the keys of different uses of one secret */
export function createSecretBox(keys: string | DataKeys, purpose: string): SecretBox {
  if (typeof keys === 'string') return boxOf(keys, purpose)
  const own = boxOf(keys.dataKey, purpose)
  const others = (keys.dataKeyOld ?? []).map((key) => boxOf(key, purpose))
  return {
    seal: own.seal,
    open(sealed, label) {
      const text = own.open(sealed, label)
      if (text !== undefined) return text
      // While keys are changed, another node may have sealed it under the next one already, or it is not yet sealed anew.
      for (const other of others) {
        const found = other.open(sealed, label)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}

function boxOf(secret: string, purpose: string): SecretBox {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `patchbay ${purpose}`, 32))
  return {
    seal(text, label) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(label))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return VERSION + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    open(sealed, label) {
      if (!sealed.startsWith(VERSION)) return undefined
      const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url')
      if (bytes.length < IV_BYTES + TAG_BYTES) return undefined
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
      decipher.setAAD(Buffer.from(label)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      try {
        const text = decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES))
        return Buffer.concat([text, decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}

/** The box, with the last secrets that were opened at hand: for who needs the same ones a thousand times a second. */
export function keepOpened(box: SecretBox, most = 1_000): SecretBox {
  const opened = new Map<string, string>()
  return {
    seal: (text, label) => box.seal(text, label),
    open(sealed, label) {
      const key = `${label} ${sealed}`
      const known = opened.get(key)
      if (known !== undefined) return known
      const text = box.open(sealed, label)
      if (text === undefined) return undefined
      const [oldest] = opened.keys()
      if (opened.size >= most && oldest !== undefined) opened.delete(oldest)
      opened.set(key, text)
      return text
    },
  }
}
