import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AudioFormat } from '../call/types/leg.ts'
import { boundary } from '../lib/async/boundary.ts'
import type { ObjectSource } from '../plugin/contract.ts'
import type { Logger } from '../process/log.ts'
import { CallRecording, type CallTap } from './call-recording.ts'
import { completeWav, SpoolFile } from './spool-file.ts'

/** A recording on this node's disk that is on its way to the object store. */
export interface SpooledCall {
  callId: string
  workspaceId: string
}

interface SpoolOptions {
  /** Folder of the spool; made when missing. */
  dir: string
  nowMs: () => number
  log: Logger
  /** A recording is whole and waits in the spool. */
  finished(call: SpooledCall): void
}

const FLUSH_MS = 500
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const NAME = new RegExp(`^(${UUID})\\.(${UUID})\\.(wav|part)$`)

/**
 * Recordings between their call and the object store, as files `<workspace>.<call>.part` while the call runs and `.wav`
 * once they are whole. What a process leaves behind when it dies, the next one over the same folder finds.
 */
export class RecordingSpool {
  /** Names this spool, on any node that mounts it later. */
  readonly id: string
  readonly #options: SpoolOptions
  /** Calls that are recorded now. */
  readonly #open = new Map<string, CallRecording>()
  /** Calls whose file is still being closed, too. */
  readonly #writing = new Map<string, Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  private constructor(id: string, options: SpoolOptions) {
    this.id = id
    this.#options = options
  }

  static async open(options: SpoolOptions): Promise<RecordingSpool> {
    await mkdir(options.dir, { recursive: true, mode: 0o700 })
    return new RecordingSpool(await idOf(options.dir), options)
  }

  /**
   * Records a call; undefined, and a word in the log, when that can't be.
   * @param startMs monotonic: from when on
   */
  record({ callId, workspaceId }: SpooledCall, format: AudioFormat, startMs: number): CallTap | undefined {
    const { log, nowMs } = this.#options
    const closed = Promise.withResolvers<void>()
    const file = new SpoolFile(
      this.#path(callId, workspaceId, 'part'),
      this.#path(callId, workspaceId, 'wav'),
      format.sampleRateHz,
      {
        failed: (err) => log.error({ err, callId }, 'Recording stopped; the call goes on'),
        closed: (dataBytes) => {
          this.#writing.delete(callId)
          closed.resolve()
          if (dataBytes > 0) this.#options.finished({ callId, workspaceId })
        },
      },
    )
    const end = () => {
      this.#open.delete(callId)
      if (this.#open.size === 0) clearInterval(this.#timer)
      file.end()
    }
    try {
      const recording = new CallRecording(format, { write: (bytes) => file.write(bytes), end }, nowMs, { startMs })
      this.#writing.set(callId, closed.promise)
      this.#open.set(callId, recording)
      if (this.#open.size === 1)
        this.#timer = setInterval(
          boundary('call', () => this.#flush()),
          FLUSH_MS,
        )
      return recording
    } catch (err) {
      log.error({ err, callId }, 'The call can not be recorded')
      return undefined
    }
  }

  /** Recordings that are whole, and those that are not and belong to no call of this process. */
  async list(): Promise<{ whole: SpooledCall[]; unfinished: (SpooledCall & { touchedMs: number })[] }> {
    const whole: SpooledCall[] = []
    const unfinished: (SpooledCall & { touchedMs: number })[] = []
    for (const name of await readdir(this.#options.dir)) {
      const [, workspaceId, callId, kind] = NAME.exec(name) ?? []
      if (workspaceId === undefined || callId === undefined) continue
      if (kind === 'wav') whole.push({ callId, workspaceId })
      else if (!this.#writing.has(callId)) {
        const found = await stat(join(this.#options.dir, name)).catch(() => undefined)
        if (found !== undefined) unfinished.push({ callId, workspaceId, touchedMs: found.mtimeMs })
      }
    }
    return { whole, unfinished }
  }

  /** Makes a recording whole that a dead process began. */
  async complete({ callId, workspaceId }: SpooledCall): Promise<void> {
    const whole = await completeWav(this.#path(callId, workspaceId, 'part'), this.#path(callId, workspaceId, 'wav'))
    this.#options.log.warn({ callId, kept: whole }, 'Completed the recording of a call whose process died')
    if (whole) this.#options.finished({ callId, workspaceId })
  }

  /** The bytes of a whole recording for `use`, or undefined when it is gone. */
  async read(call: SpooledCall, use: (source: ObjectSource) => Promise<void>): Promise<true | undefined> {
    const path = this.#path(call.callId, call.workspaceId, 'wav')
    const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (file === undefined) return undefined
    try {
      const { size } = await file.stat()
      await use({
        size,
        async bytes(start, end) {
          const bytes = Buffer.allocUnsafe(end - start)
          const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
          if (bytesRead !== bytes.length) throw new Error(`"${path}" is shorter than its ${size} bytes`)
          return bytes
        },
      })
      return true
    } finally {
      await file.close()
    }
  }

  async remove({ callId, workspaceId }: SpooledCall): Promise<void> {
    await rm(this.#path(callId, workspaceId, 'wav'), { force: true })
  }

  /** Ends what is still recorded, and resolves when every file is closed. */
  async close(): Promise<void> {
    for (const recording of [...this.#open.values()]) recording.ended()
    await Promise.all(this.#writing.values())
  }

  #flush(): void {
    for (const recording of this.#open.values()) recording.flush()
  }

  #path(callId: string, workspaceId: string, kind: 'part' | 'wav'): string {
    return join(this.#options.dir, `${workspaceId}.${callId}.${kind}`)
  }
}

/** Kept in the folder, so that jobs queued before a restart find their spool again. */
async function idOf(dir: string): Promise<string> {
  const path = join(dir, 'id')
  await writeFile(path, randomUUID(), { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return (await readFile(path, 'utf8')).trim()
}
