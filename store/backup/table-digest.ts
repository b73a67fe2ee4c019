import { createHash, hash } from 'node:crypto'
import { Transform } from 'node:stream'

const LANES = 8
const NEWLINE = 0x0a

/** What a table held: the same for the same rows in any order, since a restored table is read in another one. */
export interface TableSum {
  readonly rows: number
  readonly digest: string
}

/** Reads the text of COPY as it comes, in chunks that end anywhere: counts its rows and adds up their hashes. */
export class TableDigest {
  readonly #lanes = new Uint32Array(LANES)
  #rows = 0
  #begun: Buffer[] = []

  get rows(): number {
    return this.#rows
  }

  update(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const last = chunk.subarray(start, end)
      this.#add(this.#begun.length === 0 ? last : Buffer.concat([...this.#begun, last]))
      this.#begun = []
      start = end + 1
    }
    // The stream may use the memory of its chunk again.
    if (start < chunk.length) this.#begun.push(Buffer.from(chunk.subarray(start)))
  }

  sum(): TableSum {
    if (this.#begun.length > 0) this.update(Buffer.from([NEWLINE]))
    return { rows: this.#rows, digest: Buffer.from(this.#lanes.buffer).toString('hex') }
  }

  #add(row: Buffer): void {
    const digest = hash('sha256', row, 'buffer')
    for (let lane = 0; lane < LANES; lane += 1)
      this.#lanes[lane] = (this.#lanes[lane] ?? 0) + digest.readUInt32LE(lane * 4)
    this.#rows += 1
  }
}

/** Passes rows on and digests them on the way. */
export function digesting(digest: TableDigest): Transform {
  return new Transform({
    transform(chunk: Buffer, _, done) {
      digest.update(chunk)
      done(null, chunk)
    },
  })
}

interface FilesSum {
  readonly count: number
  readonly bytes: number
  readonly digest: string
}

/** Of files in the order in which they are written: their names, lengths and content. */
export class FilesDigest {
  readonly #hash = createHash('sha256')
  #count = 0
  #bytes = 0

  begin(name: string, bytes: number): void {
    this.#hash.update(`${name}\0${bytes}\0`)
    this.#count += 1
    this.#bytes += bytes
  }

  update(chunk: Buffer): void {
    this.#hash.update(chunk)
  }

  sum(): FilesSum {
    return { count: this.#count, bytes: this.#bytes, digest: this.#hash.digest('hex') }
  }
}
