import { Parser } from 'htmlparser2'

export type XmlAttributes = Readonly<Record<string, string>>

interface XmlHandlers {
  open(name: string, attributes: XmlAttributes): void
  text?(text: string): void
  close?(name: string): void
}

/** The parser keeps a tag, comment or declaration until its end, and the names of the elements that are open. */
const MAX_UNENDED_BYTES = 1024 * 1024
const MAX_DEPTH = 100

/** XML that no program writes. */
export class XmlError extends Error {
  override name = 'XmlError'
}

/**
 * Reads XML in UTF-8 piece by piece, in bounded memory. Names come without their prefix: some programs write `x:row`. Entities that
 * the document declares are not expanded.
 */
export class XmlReader {
  readonly #decoder = new TextDecoder()
  readonly #parser: Parser
  #depth = 0
  /** Since the last that was handed on. */
  #unendedBytes = 0

  constructor({ open, text, close }: XmlHandlers) {
    this.#parser = new Parser(
      {
        onopentag: (name, attributes) => {
          this.#unendedBytes = 0
          if (++this.#depth > MAX_DEPTH) throw new XmlError(`Elements lie more than ${MAX_DEPTH} deep`)
          open(localName(name), attributes)
        },
        ontext: (piece) => {
          this.#unendedBytes = 0
          text?.(piece)
        },
        onclosetag: (name) => {
          this.#unendedBytes = 0
          this.#depth--
          close?.(localName(name))
        },
      },
      { xmlMode: true },
    )
  }

  /** @throws XmlError, and what the handlers throw */
  write(bytes: Uint8Array): void {
    this.#unendedBytes += bytes.length
    if (this.#unendedBytes > MAX_UNENDED_BYTES) throw new XmlError('A tag or comment does not end')
    this.#parser.write(this.#decoder.decode(bytes, { stream: true }))
  }

  end(): void {
    this.#parser.end(this.#decoder.decode())
  }
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}
