import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { definePlugin, type Host, type Options, ProviderError } from '../../packages/plugin/mod.ts'
import { existingParts } from './existing-parts.ts'
import { HEARING_RATE_HZ, type Model } from './model.ts'
import { type ModelThread, threadOf } from './model-thread.ts'
import { requireRuntime } from './runtime.ts'

const RATE_HZ = 22_050

/** The models it can run, as models.json lists them. */
const catalogue = (): Model[] => JSON.parse(readFileSync(join(import.meta.dirname, 'models.json'), 'utf8')) as Model[]

/** Ears and a voice on this machine. Runs in a process of its own; each model in a thread of its own there. */
export default definePlugin({
  stt: async (host, options) => {
    const model = find(host, options.model, 'stt')
    const thread = await open(host, options, model)
    return {
      sampleRateHz: HEARING_RATE_HZ,
      async *recognise(audio, signal) {
        const session = thread.hear(signal)
        const feeding = (async () => {
          for await (const samples of audio) session.push(samples)
          session.end()
        })()
        yield* session.events
        await feeding
      },
    }
  },
  tts: async (host, options) => {
    const [id, speaker] = (options.voice ?? '').split(':')
    const model = find(host, id, 'tts')
    const number = speaker === undefined ? 0 : (model.speakers ?? []).indexOf(speaker)
    if (number < 0) throw unusable(`it has no voice "${options.voice}"`)
    const thread = await open(host, options, model)
    const speed = Number(options.settings.speed ?? 1)
    return {
      sampleRateHz: model.sampleRateHz ?? RATE_HZ,
      speak: (text, signal) => thread.speak({ text, speaker: number, speed }, signal),
    }
  },
  check: async (host) => {
    requireRuntime(host)
    for (const model of catalogue()) if (existingParts(host, model) === 'damaged') throw damaged(model)
  },
})

function find(host: Host, id: string | undefined, kind: Model['kind']): Model {
  const model = catalogue().find((one) => one.id === id && one.kind === kind)
  if (model === undefined) throw unusable(`it knows no model "${id}"`)
  const parts = existingParts(host, model)
  if (parts === 'absent') throw unusable(`model "${id}" is not here; run: npm run patchbay models pull ${id}`)
  if (parts === 'damaged') throw damaged(model)
  return model
}

/** The thread of a model: started with its first use, kept while the process runs. */
async function open(host: Host, { settings }: Options, model: Model): Promise<ModelThread> {
  requireRuntime(host)
  const denoiser =
    model.kind === 'stt' && settings.denoise !== false
      ? catalogue().find((one) => one.kind === 'denoise' && existingParts(host, one) === 'whole')
      : undefined
  return threadOf({
    model,
    modelsDir: host.modelsDir ?? '',
    dir: join(host.modelsDir ?? '', model.id),
    denoiser: denoiser && { model: denoiser, dir: join(host.modelsDir ?? '', denoiser.id) },
    threads: Number(settings.threads ?? (model.kind === 'tts' ? 2 : 1)),
    pauseMs: Number(settings.pauseMs ?? 500),
  })
}

function damaged({ id }: Model): ProviderError {
  return unusable(`files of model "${id}" are missing; run: npm run patchbay models pull ${id}`)
}

function unusable(why: string): ProviderError {
  return new ProviderError(`Local speech can't be used: ${why}`, { fault: 'bad_request' })
}
