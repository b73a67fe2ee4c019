import { basename, join } from 'node:path'
import { PatchbayError } from '../lib/errors.ts'
import { nearest } from '../lib/nearest.ts'
import type { Engine } from '../plugin/contract.ts'
import { ROOT } from '../plugin/load.ts'
import { readManifests } from '../plugin/manifest.ts'
import { type ModelEntry, readCatalogue } from './catalogue.ts'
import { describeEngine, installEngine, isEngineHere } from './engine.ts'
import { type ModelLock, modelLock } from './lock.ts'
import { megabytes, pullModel, removeModel } from './pull.ts'

const MODELS_USAGE = `Usage: patchbay models [engine|pull|remove <model>…]

  models                 the models that can run on this machine, and which are here
  models engine          installs what runs them from npm into the data folder, and says its licence
  models pull <model>…   downloads models, goes on where a download was broken off, checks what came
                         against the hub's digests and pins it in models/models.lock.json of the data folder
  models remove <model>  deletes one
`

export interface ModelsCommand {
  words: readonly string[]
  dataDir: string
  hub: string
  /** Writes as it is: lines end themselves. */
  say(text: string): void
  /** Progress is written over itself. */
  terminal: boolean
  signal: AbortSignal
  /** Default: `plugins/` of the checkout. */
  pluginsDir?: string
}

interface Listed {
  plugin: string
  engine: Engine | undefined
  entry: ModelEntry
}

/** `patchbay models …`: returns what is said at the end. Throws `configuration` and `plugin`. */
export async function runModelsCommand(command: ModelsCommand): Promise<string> {
  const [verb = 'list', ...names] = command.words
  const listed = await allModels(command.pluginsDir ?? join(ROOT, 'plugins'))
  switch (verb) {
    case 'help':
      return MODELS_USAGE.trimEnd()
    case 'list':
      return table(listed, await modelLock.read(command.dataDir), command.hub)
    case 'pull': {
      const lines: string[] = []
      for (const model of names.length === 0 ? [find(listed, undefined)] : names.map((name) => find(listed, name))) {
        lines.push(await pull(model, command))
      }
      return [...lines, ...enginesToInstall(listed, command), 'Restart Patchbay to use what was pulled.'].join('\n')
    }
    case 'engine':
      return installEngines(listed, command)
    case 'remove': {
      const { plugin, entry } = find(listed, names[0])
      const wasThere = await removeModel(command.dataDir, plugin, entry.id)
      return wasThere ? `Removed ${entry.id}. Restart Patchbay.` : `${entry.id} is not on this machine.`
    }
    default:
      throw usage(`"${verb}" is no command of patchbay models`)
  }
}

function usage(why: string): PatchbayError {
  return new PatchbayError('configuration', { params: { reason: `${why}\n\n${MODELS_USAGE}` } })
}

async function allModels(pluginsDir: string): Promise<Listed[]> {
  const folders = await readManifests(pluginsDir)
  const lists = folders.map(async ({ dir, manifest }) => {
    const entries = manifest?.models === undefined ? [] : await readCatalogue(dir, manifest.models)
    return entries.map((entry) => ({ plugin: basename(dir), engine: manifest?.engine, entry }))
  })
  return (await Promise.all(lists)).flat()
}

function find(listed: readonly Listed[], name: string | undefined): Listed {
  const ids = listed.map(({ entry }) => entry.id)
  if (name === undefined) throw usage(`Say which model: ${ids.join(', ')}`)
  const found = listed.find(({ entry }) => entry.id === name)
  if (found !== undefined) return found
  const near = nearest(name, ids)
  const meant = near === undefined ? '' : `; did you mean "${near}"?`
  const reason = `There is no model "${name}"${meant} There are ${ids.join(', ')}`
  throw new PatchbayError('configuration', {
    params: { reason: meant === '' ? reason.replace(' There', '; there') : reason },
  })
}

/** The plugins whose models need something to run them. */
function enginesOf(listed: readonly Listed[]): Map<string, Engine> {
  return new Map(listed.flatMap(({ plugin, engine }) => (engine === undefined ? [] : [[plugin, engine] as const])))
}

/** What is still to be done, in sentences. */
function enginesToInstall(listed: readonly Listed[], { dataDir }: ModelsCommand): string[] {
  return Array.from(enginesOf(listed)).flatMap(([plugin, engine]) =>
    isEngineHere(dataDir, plugin, engine)
      ? []
      : [`What runs it is not here: npm run patchbay models engine (${describeEngine(engine)}).`],
  )
}

async function installEngines(listed: readonly Listed[], { dataDir, say, signal }: ModelsCommand): Promise<string> {
  for (const [plugin, engine] of enginesOf(listed)) {
    say(`${describeEngine(engine)}\n`)
    await installEngine(dataDir, plugin, engine, signal)
  }
  return 'What runs models is here. Restart Patchbay to use it.'
}

const DOES = { stt: 'hears', tts: 'speaks', denoise: 'quiets' } as const

function table(listed: readonly Listed[], { models }: ModelLock, hub: string): string {
  const rows = listed.map(({ plugin, entry }) => {
    const { id, kind, languages, license, megabytes: size, repository, title } = entry
    const tags =
      languages.length > 6 ? `${languages.slice(0, 5).join(' ')} … (${languages.length})` : languages.join(' ')
    const here = models[`${plugin}/${id}`] === undefined ? '' : 'here'
    return { cells: [id, here, DOES[kind], tags, `${size} MB`, license], more: `${title} · ${hub}/${repository}` }
  })
  const heads = ['model', '', '', 'languages', 'about', 'licence']
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...rows.map(({ cells }) => cells[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  return [line(heads), ...rows.flatMap(({ cells, more }) => [line(cells), `    ${more}`])].join('\n')
}

/** Progress is said so many times where it can't be written over itself. */
const STEPS = 10

async function pull({ plugin, entry }: Listed, command: ModelsCommand): Promise<string> {
  const { dataDir, hub, say, terminal, signal } = command
  say(`${entry.id}: ${entry.title}. Licence ${entry.license}. From ${hub}/${entry.repository}\n`)
  let step = -1
  const progress = (bytes: number, ofBytes: number): void => {
    const now = Math.floor((bytes / Math.max(1, ofBytes)) * (terminal ? 1_000 : STEPS))
    if (now === step) return
    step = now
    const text = `  ${megabytes(bytes)} of ${megabytes(ofBytes)}`
    say(terminal ? `\r${text}   ` : `${text}\n`)
  }
  try {
    const bytes = await pullModel(entry, { dataDir, plugin, hub, signal, progress })
    if (terminal) say('\n')
    return `${entry.id} is here (${megabytes(bytes)}), as the hub lists it.`
  } catch (error) {
    if (terminal) say('\n')
    if (!signal.aborted) throw error
    const reason = `Broken off; run it again and it goes on where it stopped`
    throw new PatchbayError('plugin', { params: { reason }, cause: error })
  }
}
