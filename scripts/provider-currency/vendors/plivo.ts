import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { plivoProvider } from '../../../plugins/plivo/provider.ts'
import { dial } from '../../../plugins/plivo/xml.ts'
import { elementsOf, useCarrier } from '../use-carrier.ts'
import type { Vendor, WireRequest } from './vendor.ts'

const REST = 'dist/resources/call.js'
const XML = 'dist/utils/plivoxml.js'

/** The SDK types its answers alone; of requests its comments name the fields, and its builder of XML the attributes. */
export const plivo: Vendor = {
  async types(folder) {
    const rest = await readFile(join(folder, 'package', REST), 'utf8')
    const xml = await readFile(join(folder, 'package', XML), 'utf8')
    const verbs = [...xml.matchAll(/this\.element = '(\w+)';[^}]*?this\.valid_attributes = \[([^\]]*)\]/g)]
    return {
      // ring_url is in the SDK for Python: plivo 4.63.0, resources/calls.py, create.
      create: `${fieldsOf(rest, 'Create a call')} & { from: string; to: string; ring_url?: string; ring_method?: string }`,
      transfer: fieldsOf(rest, 'Transfer a Call'),
      ...Object.fromEntries(
        verbs.map(([, verb = '', names = '']) => [
          verb,
          names === '' ? 'Record<string, never>' : `Partial<Record<${names.replaceAll(',', ' |')}, string>>`,
        ]),
      ),
    }
  },
  unjudged: ['messages of audio streams: the SDK holds no protocol of them'],
  async requests(_provides, recorder) {
    const host = recorder.host({ PLIVO_AUTH_ID: 'MA1', PLIVO_AUTH_TOKEN: 'secret' }, () => ({}))
    let documents: string[] = []
    const asked = await recorder.recordAll(async () => {
      documents = await useCarrier(plivoProvider(host))
    })
    const requests = asked.flatMap(({ method, path, body }): WireRequest[] => {
      if (method !== 'POST') return []
      return [{ type: path.endsWith('/Call/') ? 'create' : 'transfer', about: `POST ${path}`, value: body as object }]
    })
    const verbs = [...documents, dial('+14155550101', '+14155550100')].flatMap(elementsOf)
    return [
      ...requests,
      ...verbs.map(({ name, attributes }) => ({ type: name, about: `<${name}>`, value: attributes })),
    ]
  },
}

/** The options that the comment before this heading lists, by the names the SDK sends them with. */
function fieldsOf(source: string, heading: string): string {
  const comment = new RegExp(`\\* ${heading}\\s(?:(?!\\*/)[^])*\\*/`).exec(source)?.[0] ?? ''
  const fields = [...comment.matchAll(/@param \{(\w+)\} \[params\.(\w+)\]/g)].map(([, type = '', name = '']) => {
    const field = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return `${field}?: ${type}`
  })
  if (fields.length === 0) throw new Error(`the SDK's comment "${heading}" names no options`)
  return `{ ${fields.join('; ')} }`
}
