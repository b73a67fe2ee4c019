import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Manifest, serviceLinks } from '../source/manifests.ts'
import { waitUntil } from '../world/wait-until.ts'
import { type RoleProcess, startRole } from './instance.ts'
import type { Teardown } from './services.ts'

/** A user of an image: not root, and owner of nothing. */
const USER = '1000'
/**
 * What a container runtime does for `readOnlyRootFilesystem`, `runAsNonRoot`, dropped capabilities and an empty folder at /tmp: mount
 * namespaces are a root's. Node is reached below /tmp, as the folder of root is closed.
 */
const SANDBOX = `set -e
mount --make-rprivate /
mount -t tmpfs -o mode=1777 tmpfs /tmp
mkdir /tmp/node /tmp/data /tmp/home
chown ${USER}:${USER} /tmp/data /tmp/home
mount --bind "$NODE_HOME" /tmp/node
mount -o bind,remount,ro /
exec setpriv --reuid=${USER} --regid=${USER} --clear-groups --no-new-privs --bounding-set=-all "$@"`

/** Why pods run with the rights of the test; undefined: they have those of their manifest. */
export const sandboxMissing = ((): string | undefined => {
  const trial = [
    '-m',
    'sh',
    '-c',
    SANDBOX,
    'sh',
    '/tmp/node/bin/node',
    '-e',
    'process.exit(process.getuid() === 1000 ? 0 : 1)',
  ]
  const { status, stderr, error } = spawnSync('unshare', trial, { env: sandboxEnvironment(), encoding: 'utf8' })
  return status === 0 ? undefined : `no mount namespaces here: ${error?.message ?? stderr.trim()}`
})()

function sandboxEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_OPTIONS: '', NODE_HOME: join(dirname(process.execPath), '..') }
}

interface PodOptions {
  workload: Manifest
  /** Data of the ConfigMap and the Secret. */
  settings: Readonly<Record<string, string>>
  services: readonly Manifest[]
  /** Ports and times that fit a test. */
  env: Readonly<Record<string, string>>
  adminPort: number
}

/** A container of a workload as a kubelet runs it: its environment, its rights, its probes, its end. */
export class Pod {
  readonly process: RoleProcess
  readonly #template: Manifest
  readonly #adminPort: number

  static async start(t: Teardown, options: PodOptions): Promise<Pod> {
    const template = options.workload.spec.template as Manifest
    const isSandboxed = sandboxMissing === undefined
    const folder = isSandboxed ? '/tmp' : await mkdtemp(join(tmpdir(), 'patchbay-pod-'))
    if (!isSandboxed) t.teardown(() => rm(folder, { recursive: true, force: true }))
    const env: Record<string, string> = {
      ...podEnvironment(template, options.settings, options.services),
      ...{ TMPDIR: folder, HOME: join(folder, 'home'), PATCHBAY_DATA_DIR: join(folder, 'data') },
      ...options.env,
    }
    const within = isSandboxed
      ? { command: ['unshare', '-m', 'sh', '-c', SANDBOX, 'sh'], node: '/tmp/node/bin/node', env: sandboxEnvironment() }
      : undefined
    return new Pod(startRole(t, template.spec.containers[0].args, env, within), template, options.adminPort)
  }

  private constructor(process: RoleProcess, template: Manifest, adminPort: number) {
    this.process = process
    this.#template = template
    this.#adminPort = adminPort
  }

  get isRunning(): boolean {
    const { child } = this.process
    return child.exitCode === null && child.signalCode === null
  }

  /** What a probe of the manifest gets. */
  async probe(kind: 'livenessProbe' | 'readinessProbe'): Promise<boolean> {
    const { path } = this.#template.spec.containers[0][kind].httpGet
    const answer = await fetch(`http://127.0.0.1:${this.#adminPort}${path}`).catch(() => undefined)
    await answer?.body?.cancel()
    return answer?.status === 200
  }

  async ready(is = true): Promise<void> {
    await waitUntil(
      async () => {
        if (!this.isRunning) throw new Error(`It ended: ${this.process.output()}`)
        return (await this.probe('readinessProbe')) === is
      },
      () => `the pod to be ${is ? 'ready' : 'not ready'}: ${this.process.output()}`,
    )
  }

  /** Its end as a kubelet brings it about: the command of `preStop`, SIGTERM, and SIGKILL after the grace period. */
  async terminate(): Promise<{ code: number | null; isKilled: boolean }> {
    const { preStop } = this.#template.spec.containers[0].lifecycle ?? {}
    if (preStop !== undefined) throw new Error(`This kubelet knows no preStop: ${JSON.stringify(preStop)}`)
    const graceMs = this.#template.spec.terminationGracePeriodSeconds * 1_000
    const { child, ended } = this.process
    child.kill('SIGTERM')
    const late = new AbortController()
    const code = await Promise.race([
      ended,
      sleep(graceMs, 'late' as const, { signal: late.signal, ref: false }).catch(() => 'late' as const),
    ])
    late.abort()
    if (code !== 'late') return { code, isKilled: false }
    child.kill('SIGKILL')
    return { code: await ended, isKilled: true }
  }
}

/** The environment a container gets, with the Services' variables that a template without `enableServiceLinks: false` would add. */
function podEnvironment(template: Manifest, settings: Readonly<Record<string, string>>, services: readonly Manifest[]) {
  const env: Record<string, string> = { ...settings, POD_IP: '127.0.0.1' }
  for (const { name, value } of template.spec.containers[0].env as { name: string; value?: string }[]) {
    if (value !== undefined) env[name] = value.replaceAll('$(POD_IP)', env.POD_IP ?? '')
  }
  return Object.assign(env, ...services.map((service) => serviceLinks(service)))
}
