import { type Static, Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { ModelDownload, PluginModels } from '../../runtime/models/model-downloads.ts'
import { defineRoute } from '../route.ts'
import { ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'
import { ModelsBody, modelsExample } from './schema.ts'

/** Models that hear and speak on this machine, without a key: what there is, and its download. */

const common = { auth: 'jwt', role: 'operator', tag: 'Operator' } as const

const list = defineRoute({
  ...common,
  method: 'GET',
  path: '/operator/models',
  success: { status: 200, schema: ModelsBody },
  summary: 'The models that hear and speak on this machine without a key, and how their download is doing',
  examples: { success: modelsExample },
  handler: (_, services) => modelsBody(services),
})

const download = defineRoute({
  ...common,
  method: 'POST',
  path: '/operator/models',
  audit: ['models'],
  body: Type.Object({ models: Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: 10 }) }),
  success: { status: 200, schema: ModelsBody },
  errors: ['download_running', 'models_elsewhere'],
  summary: 'Download models, with what runs them; they are used as soon as they are here, without a restart',
  description:
    'It goes on in the background: `GET /operator/models` has its progress. Files are checked against the digests of the hub (`PATCHBAY_MODEL_HUB`). A download that broke off goes on where it was.',
  examples: { body: { models: ['zipformer-en'] }, success: modelsExample },
  handler: async ({ body }, services) => {
    const { modelDownloads, plugins } = services
    if (modelDownloads === undefined) throw new PatchbayError('models_elsewhere')
    const [local] = await modelDownloads.list(plugins.plugins)
    const known = local?.entries.map(({ entry }) => entry) ?? []
    const wanted = known.filter(({ id }) => body.models.includes(id))
    const unknown = body.models.find((id) => !known.some((entry) => entry.id === id))
    if (local === undefined || unknown !== undefined) {
      const msg = `"${unknown}" is no model; there are ${known.map(({ id }) => id).join(', ') || 'none'}`
      throw new ValidationError([{ loc: ['body', 'models'], msg, type: 'value_error' }])
    }
    if (!modelDownloads.begin(local, wanted)) throw new PatchbayError('download_running')
    return modelsBody(services)
  },
})

export const modelRoutes = [list, download]

async function modelsBody({ modelDownloads, plugins }: Services): Promise<Static<typeof ModelsBody>> {
  if (modelDownloads === undefined) return { available: false, engine: null, models: [], download: null }
  const [local] = await modelDownloads.list(plugins.plugins)
  return {
    available: local !== undefined,
    engine: local === undefined ? null : engineBody(local),
    models:
      local?.entries.map(({ entry: { id, title, kind, languages, license, megabytes }, isHere }) => ({
        ...{ model: id, title, kind, languages: [...languages], license, megabytes, here: isHere },
      })) ?? [],
    download: modelDownloads.last === undefined ? null : downloadBody(modelDownloads.last),
  }
}

function engineBody({ engine, isEngineHere }: PluginModels): Static<typeof ModelsBody>['engine'] {
  if (engine === undefined) return null
  return { package: engine.package, license: engine.license, megabytes: engine.megabytes, here: isEngineHere }
}

function downloadBody({ state, models, bytes, ofBytes, startedAtMs, message }: ModelDownload) {
  return {
    ...{ state, models: [...models], bytes: Math.round(bytes), of_bytes: Math.round(ofBytes) },
    ...{ started_at: new Date(startedAtMs).toISOString(), message: message ?? null },
  }
}
