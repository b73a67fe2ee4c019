import module from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Factories, Host, Options } from '../../../packages/plugin/mod.ts'
import { inBackground } from '../../lib/async/boundary.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { cleanText } from '../../lib/text.ts'
import type { Logger } from '../../process/log.ts'
import { asProcess } from '../../process/own-act.ts'
import { permissionDenied } from '../grants/permissions.ts'
import { pluginScope } from '../plugin-scope.ts'
import { AudioQueue } from './audio-queue.ts'
import { disposeSession, runUse } from './inside/run-use.ts'
import { thrownOf } from './inside/thrown.ts'
import type { Use } from './messages.ts'
import { ObjectExchange } from './object-exchange.ts'
import { IsolatedFault, type IsolatedSession, type PluginRunner, type SessionEvents } from './plugin-runner.ts'
import { RealtimeInputs } from './realtime-inputs.ts'

interface InRoleOptions {
  plugin: string
  /** Absolute path of its mod.ts or mod.js. */
  module: string
  /** What `host.env.get` gives out. */
  env: Readonly<Record<string, string>>
  granted: readonly string[]
  log: Logger
  signal: AbortSignal
}

/** A third-party plugin whose code the operator trusts: in the role's process, behind the guard as our own are. */
export class InRole implements PluginRunner {
  readonly #options: InRoleOptions
  readonly #host: Host
  readonly #kept = new Map<string, unknown>()
  #loaded: Promise<Factories> | undefined
  #factories: Factories = {}

  constructor(options: InRoleOptions) {
    this.#options = options
    const { plugin, env, granted, log, signal } = options
    const write = (level: 'debug' | 'info' | 'warn' | 'error') => (message: string) =>
      log[level]({ plugin }, cleanText(String(message), 2_000))
    this.#host = {
      plugin,
      signal,
      log: { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') },
      env: {
        get(name) {
          if (!granted.includes(name)) throw permissionDenied(plugin, 'env', name)
          return env[name]
        },
      },
    }
  }

  async ready(): Promise<readonly string[]> {
    this.#loaded ??= this.#load()
    this.#factories = await this.#loaded
    return Object.keys(this.#factories)
  }

  open(use: Use, options: Options, events: SessionEvents): IsolatedSession {
    const abort = new AbortController()
    const audio = new AudioQueue()
    const inputs = new RealtimeInputs()
    const exchange = new ObjectExchange({
      need: (start, end) => events.need?.(start, end),
      bytes: (piece) => events.bytes?.(piece),
    })
    const whole = { factories: this.#factories, host: this.#host, kept: this.#kept }
    const running = pluginScope.run({ plugin: this.#options.plugin }, () =>
      runUse(
        whole,
        use,
        options,
        abort.signal,
        audio,
        {
          event: (event) => events.event?.(event),
          result: (result) => events.result?.(result),
          bytes: (bytes) => events.bytes?.(bytes),
          dropped: this.#host.log.warn,
          async audio(samples) {
            events.audio?.(samples)
            // Others get their turn.
            await new Promise((resolve) => setImmediate(resolve))
          },
        },
        exchange,
        inputs,
      ),
    )
    const over = running.then(
      () => (abort.signal.aborted ? undefined : events.done()),
      (error: unknown) => {
        if (abort.signal.aborted) return
        const { message, failure } = thrownOf(error, new URL('.', pathToFileURL(this.#options.module)).href)
        events.failed(new IsolatedFault(message, failure, error))
      },
    )
    inBackground('plugin', over)
    return {
      audio: (samples) => audio.push(samples),
      give: (input) => inputs.push(input),
      end: () => audio.end(),
      bytes: (piece) => exchange.give(piece),
      more: () => exchange.more(),
      cancel: () => {
        abort.abort()
        audio.end()
        inputs.end()
        exchange.lack('It was given up')
      },
    }
  }

  dispose(sessionId: string): void {
    const over = pluginScope.run({ plugin: this.#options.plugin }, () =>
      disposeSession({ kept: this.#kept }, sessionId),
    )
    inBackground('plugin', over)
  }

  async #load(): Promise<Factories> {
    const { plugin, module: file } = this.#options
    try {
      nameThePackage()
      const url = pathToFileURL(file).href
      const loaded = (await pluginScope.run({ plugin }, () => import(url))) as { default?: Factories }
      if (typeof loaded.default === 'object' && loaded.default !== null) return loaded.default
      throw new Error('its default export is not definePlugin({ … })')
    } catch (cause) {
      const reason = `Plugin "${plugin}" can't be run: ${cause instanceof Error ? cause.message : cause}`
      throw new PatchbayError('plugin', { params: { reason }, cause })
    }
  }
}

const PACKAGE = join(import.meta.dirname, '../../../packages/plugin')
let isNamed = false

/** `@patchbay/plugin` and its parts are those of this checkout, wherever the plugin lies. */
function nameThePackage(): void {
  if (isNamed) return
  isNamed = true
  asProcess(() =>
    module.registerHooks({
      resolve: (specifier, context, next) => {
        const [whole, part = 'mod'] = /^@patchbay\/plugin(?:\/([a-z-]+))?$/.exec(specifier) ?? []
        if (whole === undefined) return next(specifier, context)
        return { url: pathToFileURL(join(PACKAGE, `${part}.ts`)).href, shortCircuit: true }
      },
    }),
  )
}
