import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Manifest } from '../../runtime/plugin/contract.ts'
import { Recorder } from './recorder.ts'
import { anthropic } from './vendors/anthropic.ts'
import { assemblyai } from './vendors/assemblyai.ts'
import { azure } from './vendors/azure.ts'
import { cartesia } from './vendors/cartesia.ts'
import { deepgram } from './vendors/deepgram.ts'
import { elevenlabs } from './vendors/elevenlabs.ts'
import { google } from './vendors/google.ts'
import { openai } from './vendors/openai.ts'
import { plivo } from './vendors/plivo.ts'
import { telnyx } from './vendors/telnyx.ts'
import { twilio } from './vendors/twilio.ts'
import type { Vendor, WireRequest } from './vendors/vendor.ts'
import { WIRE_TYPES } from './wire-types.ts'

const run = promisify(execFile)
const TSC = join(import.meta.dirname, '../../node_modules/.bin/tsc')
const LIMIT_MS = 300_000
const MAX_FAULT_CHARS = 600

const VENDORS: Readonly<Record<string, Vendor>> = {
  ...{ openai, anthropic, google, deepgram, cartesia, elevenlabs, assemblyai, azure },
  ...{ twilio, telnyx, plivo },
}

interface CheckedRequests {
  requests: number
  /** What the vendor's own types refuse, in the compiler's words. */
  faults: string[]
  /** What no type of the SDK describes, and why. */
  unjudged: readonly string[]
}

/**
 * Has the vendor's own types and addresses judge our requests for all that the manifest lists. Undefined: no request of ours is held
 * against this package. Throws where a plugin does not ask for what it should.
 * @param folder where the package was unpacked
 */
export async function checkRequests(
  plugin: string,
  provides: Manifest['provides'],
  folder: string,
): Promise<CheckedRequests | undefined> {
  const vendor = VENDORS[plugin]
  if (vendor === undefined) return undefined
  const recorder = await Recorder.open()
  try {
    const requests = await vendor.requests(provides, recorder)
    const types = typeof vendor.types === 'function' ? await vendor.types(folder) : vendor.types
    const faults = [
      ...(await refusedPaths(vendor, requests, folder)),
      ...(await refusedBodies(types, requests, folder)),
    ]
    return { requests: requests.length, faults, unjudged: vendor.unjudged ?? [] }
  } finally {
    recorder.close()
  }
}

/** Requests to addresses that the SDK has not. */
async function refusedPaths(vendor: Vendor, requests: readonly WireRequest[], folder: string): Promise<string[]> {
  const faults = new Set<string>()
  for (const { type, path } of requests) {
    const place = vendor.paths?.[type]
    if (place === undefined || path === undefined) continue
    const [file, named] = place
    const source = await readFile(join(folder, 'package', file), 'utf8')
    if (!source.replaceAll(/\$\{(\w+)\}/g, ':$1').includes(named)) faults.add(`${type}: ${file} does not name ${named}`)
    else if (!isSameAddress(path, named)) faults.add(`${type}: ${path} is not ${named}`)
  }
  return [...faults]
}

/** What the SDK names is the end of ours: the API's version may go before it. */
function isSameAddress(path: string, named: string): boolean {
  const parts = named.split('/').slice(1)
  const ours = path.split('/').slice(-parts.length)
  return parts.every((part, i) => part.startsWith(':') || part === ours[i])
}

/** Has the compiler hold each request against its type, and each type against a field that does not exist. */
async function refusedBodies(
  types: Readonly<Record<string, string>>,
  requests: readonly WireRequest[],
  folder: string,
): Promise<string[]> {
  const judged = requests.filter(({ type }) => type in types)
  const lines = [...WIRE_TYPES.trim().split('\n')]
  const aboutLine = new Map<number, string>()
  const write = (line: string, about: string) => aboutLine.set(lines.push(line), about)
  for (const type of new Set(judged.map((request) => request.type))) {
    write(`type ${type}_ = ${types[type]?.replaceAll('\n', ' ')}`, `the type ${type}`)
    write(`const is${type}: IsAny<${type}_> = false`, `the type ${type}, which takes everything,`)
    const [first] = judged.filter((request) => request.type === type)
    lines.push('// @ts-expect-error')
    const strange = JSON.stringify({ ...first?.value, noSuchField: true })
    lines.push(`const other${type}: ${type}_ = ${strange}`)
    aboutLine.set(lines.length - 1, `the type ${type}, which takes fields of any name,`)
  }
  for (const [i, { type, about, value }] of judged.entries()) {
    write(`const request${i}: ${type}_ = ${JSON.stringify(value)}`, `${type} of ${about}`)
  }
  const file = join(folder, 'requests.ts')
  await writeFile(file, `${lines.join('\n')}\n`)
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024']
  const told = await run(TSC, [...options, '--ignoreConfig', '--types', '', '--pretty', 'false', file], {
    timeout: LIMIT_MS,
  }).catch((error: { stdout?: string }) => ({ stdout: error.stdout || String(error) }))
  return told.stdout
    .split(/\n(?!\s)/)
    .filter((text) => /error/i.test(text))
    .map((text) => {
      const about = aboutLine.get(Number(/requests\.ts\((\d+),/.exec(text)?.[1]))
      return `${about ?? 'the check'}: ${text.replace(/^.*?error /, '').replaceAll(/\s*\n\s*/g, ' ')}`.slice(
        0,
        MAX_FAULT_CHARS,
      )
    })
}
