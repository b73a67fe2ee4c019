import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { inBackground } from '../lib/async/boundary.ts'
import type { RecordingSink } from './call-recording.ts'
import { BYTES_PER_FRAME, MAX_WAV_DATA_BYTES, sampleRateOf, WAV_HEAD_BYTES, wavHead } from './wav.ts'

/** Sound that waits for the disk; a disk that is slower than this ends the recording, never the call. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024
/** Written at once: fewer and larger writes. */
const BLOCK_BYTES = 128 * 1024

interface SpoolFileEvents {
  /** The file can't be written any further; what was written so far stays. */
  failed(error: unknown): void
  /** The file is whole and has its final name; `dataBytes` 0: there was no sound, and there is no file. */
  closed(dataBytes: number): void
}

/**
 * A WAV file that grows during a call. It carries its unfinished name until it is whole, and a file
 * left by a dead process can be repaired with `completeWav`.
 */
export class SpoolFile implements RecordingSink {
  readonly #unfinished: string
  readonly #finished: string
  readonly #sampleRateHz: number
  readonly #events: SpoolFileEvents
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #dataBytes = 0
  #file: FileHandle | undefined
  #running: Promise<void> | undefined
  #ended = false
  #broken = false

  constructor(unfinished: string, finished: string, sampleRateHz: number, events: SpoolFileEvents) {
    this.#unfinished = unfinished
    this.#finished = finished
    this.#sampleRateHz = sampleRateHz
    this.#events = events
  }

  write(bytes: Uint8Array): void {
    if (this.#broken || this.#ended || bytes.length === 0) return
    const refusal =
      this.#waitingBytes + bytes.length > MAX_WAITING_BYTES
        ? 'The disk is too slow'
        : this.#dataBytes + this.#waitingBytes + bytes.length > MAX_WAV_DATA_BYTES
          ? 'A WAV file holds no more'
          : undefined
    if (refusal !== undefined) {
      this.#fail(new Error(refusal))
      return
    }
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes >= BLOCK_BYTES) this.#write()
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#write()
  }

  #write(): void {
    if (this.#running !== undefined) return
    this.#running = this.#drain()
    inBackground('call', this.#running)
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waitingBytes >= BLOCK_BYTES || (this.#ended && this.#waitingBytes > 0)) {
        const block = Buffer.concat(this.#waiting)
        this.#waiting = []
        this.#waitingBytes = 0
        this.#file ??= await this.#create()
        await this.#file.write(block, 0, block.length, WAV_HEAD_BYTES + this.#dataBytes)
        this.#dataBytes += block.length
      }
    } catch (error) {
      this.#fail(error)
    }
    this.#running = undefined
    if (this.#ended) await this.#close()
  }

  async #create(): Promise<FileHandle> {
    const file = await open(this.#unfinished, 'wx', 0o600)
    await file.write(wavHead(this.#sampleRateHz, 0), 0, WAV_HEAD_BYTES, 0)
    return file
  }

  async #close(): Promise<void> {
    try {
      if (this.#file !== undefined) {
        await this.#file.write(wavHead(this.#sampleRateHz, this.#dataBytes), 0, WAV_HEAD_BYTES, 0)
        await this.#file.sync()
        await this.#file.close()
        await rename(this.#unfinished, this.#finished)
      }
    } catch (error) {
      this.#events.failed(error)
    }
    this.#events.closed(this.#dataBytes)
  }

  #fail(error: unknown): void {
    if (this.#broken) return
    this.#broken = true
    this.#waiting = []
    this.#waitingBytes = 0
    this.#events.failed(error)
  }
}

/**
 * Ends a file whose process died: its sizes become those of what is there. Called again, it does nothing. False: there was
 * no sound in it, and it is gone.
 */
export async function completeWav(unfinished: string, finished: string): Promise<boolean> {
  const file = await open(unfinished, 'r+')
  try {
    const head = Buffer.alloc(WAV_HEAD_BYTES)
    const { bytesRead } = await file.read(head, 0, WAV_HEAD_BYTES, 0)
    const sampleRateHz = bytesRead === WAV_HEAD_BYTES ? sampleRateOf(head) : undefined
    const { size } = await file.stat()
    const dataBytes = Math.floor((size - WAV_HEAD_BYTES) / BYTES_PER_FRAME) * BYTES_PER_FRAME
    if (sampleRateHz === undefined || dataBytes <= 0) {
      await rm(unfinished)
      return false
    }
    await file.truncate(WAV_HEAD_BYTES + dataBytes)
    await file.write(wavHead(sampleRateHz, dataBytes), 0, WAV_HEAD_BYTES, 0)
    await file.sync()
    await rename(unfinished, finished)
    return true
  } finally {
    await file.close()
  }
}
