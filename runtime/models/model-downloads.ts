import { fork } from 'node:child_process'
import { basename, join } from 'node:path'
import { boundary } from '../lib/async/boundary.ts'
import type { Clock } from '../lib/clock.ts'
import type { Engine } from '../plugin/contract.ts'
import type { LoadedPlugin } from '../plugin/load.ts'
import type { Logger } from '../process/log.ts'
import { asProcess } from '../process/own-act.ts'
import { type ModelEntry, readCatalogue } from './catalogue.ts'
import { isEngineHere } from './engine.ts'
import { modelLock } from './lock.ts'

/** What the process that downloads is told. */
export interface PullOrder {
  readonly dataDir: string
  readonly hub: string
  readonly plugin: string
  /** Absent: it is here. */
  readonly engine?: Engine
  readonly entries: readonly ModelEntry[]
}

/** What it reports. `bytes`: of those of the whole order, by the sizes of the catalogue. */
export type PullReport =
  | { readonly type: 'progress'; readonly bytes: number }
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly message: string }

/** The last download: at most one runs. */
export interface ModelDownload {
  readonly state: 'running' | 'done' | 'failed'
  readonly models: readonly string[]
  readonly bytes: number
  readonly ofBytes: number
  readonly startedAtMs: number
  /** Why it failed. */
  readonly message?: string
}

/** Models that a plugin can run on this machine. */
export interface PluginModels {
  readonly plugin: string
  readonly engine: Engine | undefined
  readonly isEngineHere: boolean
  readonly entries: readonly { readonly entry: ModelEntry; readonly isHere: boolean }[]
}

interface DownloadOptions {
  readonly dataDir: string
  readonly hub: string
  readonly clock: Clock
  readonly log: Logger
  /** Has every process of this machine use what came. */
  arrived(): Promise<void>
}

/** Downloads models to this machine, one order at a time, beside the calls. */
export class ModelDownloads {
  readonly #options: DownloadOptions
  #last: ModelDownload | undefined
  #stop: (() => void) | undefined

  constructor(options: DownloadOptions) {
    this.#options = options
  }

  get last(): ModelDownload | undefined {
    return this.#last
  }

  /** What there is, and what of it is here. */
  async list(plugins: readonly LoadedPlugin[]): Promise<PluginModels[]> {
    const { dataDir } = this.#options
    const { models } = await modelLock.read(dataDir)
    const running = plugins.flatMap(({ dir, manifest }) =>
      manifest?.models === undefined ? [] : [{ dir, file: manifest.models, engine: manifest.engine }],
    )
    return Promise.all(
      running.map(async ({ dir, file, engine }) => {
        const plugin = basename(dir)
        const entries = await readCatalogue(dir, file)
        return {
          plugin,
          engine,
          isEngineHere: engine === undefined || isEngineHere(dataDir, plugin, engine),
          entries: entries.map((entry) => ({ entry, isHere: models[`${plugin}/${entry.id}`] !== undefined })),
        }
      }),
    )
  }

  /** Begins, and returns at once; false: another download runs. */
  begin({ plugin, engine, isEngineHere: hasEngine }: PluginModels, entries: readonly ModelEntry[]): boolean {
    if (this.#last?.state === 'running') return false
    const { dataDir, hub, clock, log } = this.#options
    const missing = hasEngine ? undefined : engine
    const ofBytes = 1e6 * entries.reduce((sum, { megabytes }) => sum + megabytes, missing?.megabytes ?? 0)
    const models = entries.map(({ id }) => id)
    const begun: ModelDownload = { state: 'running', models, bytes: 0, ofBytes, startedAtMs: clock.nowMs() }
    this.#last = begun
    const order: PullOrder = { dataDir, hub, plugin, ...(missing && { engine: missing }), entries }
    const child = asProcess(() => fork(join(import.meta.dirname, 'pull-main.ts'), [], { stdio: 'ignore' }))
    this.#stop = () => child.kill('SIGKILL')
    const end = (state: 'done' | 'failed', message?: string): void => {
      if (this.#last?.state !== 'running') return
      this.#last = { ...this.#last, state, ...(message === undefined ? {} : { message }) }
      log[state === 'done' ? 'info' : 'error']({ models, err: message }, `Download of models: ${state}`)
    }
    let isDone = false
    const heard = boundary('plugin', (report: PullReport): void => {
      isDone ||= report.type === 'done'
      if (report.type === 'progress') this.#last = { ...begun, bytes: Math.min(ofBytes, Math.round(report.bytes)) }
      else if (report.type === 'failed') end('failed', report.message)
      else {
        this.#options.arrived().then(
          () => end('done'),
          (error: unknown) => end('failed', error instanceof Error ? error.message : String(error)),
        )
      }
    })
    child.on('message', heard)
    child.on(
      'error',
      boundary('plugin', (error) => end('failed', error.message)),
    )
    child.on(
      'exit',
      boundary('plugin', () => isDone || end('failed', 'The download ended by itself; begin it again and it goes on')),
    )
    child.send(order)
    return true
  }

  stop(): void {
    if (this.#last?.state === 'running') this.#stop?.()
  }
}
