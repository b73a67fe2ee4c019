import { globSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DIALECTS, type DialectName } from '../../conformance/quirks/support/dialects.ts'
import type { Quirk } from '../../conformance/quirks/support/quirk.ts'
import { PROBE, runAtProvider, runInDeno } from '../../conformance/quirks/support/run-answer.ts'
import { HTTP_VOICES, runSound } from '../../conformance/quirks/support/run-sound.ts'
import { endNativeRuntime } from '../../support/instance/native-runtime.ts'
import { foreign } from '../runtime/plugin/isolated/support.ts'

const FOLDER = join(import.meta.dirname, '../../conformance/quirks')

endNativeRuntime()
const files = globSync('*/*.ts', { cwd: FOLDER, exclude: (name) => name === 'support' }).sort()
const { registry } = await foreign(t, { plugin: { mod: PROBE, provides: { llm: { models: ['m'] } } } })

t.ok(files.length >= 40, `${files.length} quirks are known`)
for (const file of files) {
  const { default: quirk } = (await import(join(FOLDER, file))) as { default: Quirk }
  const name = `${file}: ${quirk.title}`
  if (quirk.kind === 'protocol') t.test(name, (t) => quirk.run(t))
  else if (quirk.kind === 'sound') {
    for (const provider of Object.keys(HTTP_VOICES) as (keyof typeof HTTP_VOICES)[]) {
      t.test(`${name} (${provider})`, (t) => runSound(t, quirk, provider))
    }
  } else {
    for (const provider of quirk.providers ?? ([...Object.keys(DIALECTS), 'deno'] as const)) {
      t.test(`${name} (${provider})`, (t) =>
        provider === 'deno' ? runInDeno(t, quirk, registry) : runAtProvider(t, quirk, provider as DialectName),
      )
    }
  }
}
