import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Teardown } from '../../../instance/services.ts'

export interface NpmRegistry {
  /** What `npm_config_registry` is set to. */
  readonly url: string
  /** The paths that were asked for. */
  readonly asked: readonly string[]
  /** Publishes the folder of a package; `digest` is what the registry says of its tarball, its own by default. */
  publish(folder: string, digest?: string): Promise<void>
}

interface Version {
  manifest: { name: string; version: string }
  tarball: Buffer
  integrity: string
}

/** A registry of npm as its documents say (github.com/npm/registry, docs/responses/package-metadata.md): metadata and tarballs. */
export async function startNpmRegistry(t: Teardown): Promise<NpmRegistry> {
  const packages = new Map<string, Version>()
  const asked: string[] = []
  const server = createServer(({ method = '', url = '' }, response) => {
    const { status, body } = answerTo(method, url)
    const isTarball = Buffer.isBuffer(body)
    response.writeHead(status, { 'content-type': isTarball ? 'application/octet-stream' : 'application/json' })
    response.end(isTarball ? body : JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  function answerTo(method: string, path: string): { status: number; body: object } {
    asked.push(path)
    if (method !== 'GET') return { status: 405, body: { error: 'method not allowed' } }
    const [name = '', file] = decodeURIComponent(path.slice(1)).split('/-/')
    const found = packages.get(name)
    const version = found?.manifest.version
    if (found === undefined || (file !== undefined && file !== `${name}-${version}.tgz`)) {
      return { status: 404, body: { error: 'Not found' } }
    }
    const { manifest, tarball, integrity } = found
    if (file !== undefined) return { status: 200, body: tarball }
    const dist = { integrity, tarball: `${url}${name}/-/${name}-${version}.tgz` }
    const versions = { [`${version}`]: { ...manifest, hasInstallScript: 'scripts' in manifest, dist } }
    return { status: 200, body: { name, 'dist-tags': { latest: version }, versions } }
  }

  async function publish(folder: string, digest?: string): Promise<void> {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Version['manifest']
    const place = await mkdtemp(join(tmpdir(), 'patchbay-published-'))
    t.teardown(() => rm(place, { recursive: true, force: true }))
    // As npm makes them: everything in a folder `package`.
    const file = join(place, 'package.tgz')
    await promisify(execFile)('tar', ['-czf', file, '-C', folder, '--transform', 's,^\\.,package,', '.'])
    const tarball = readFileSync(file)
    const integrity = digest ?? `sha512-${createHash('sha512').update(tarball).digest('base64')}`
    packages.set(manifest.name, { manifest, tarball, integrity })
  }

  return { url, asked, publish }
}
