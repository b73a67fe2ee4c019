import { execFile } from 'node:child_process'
import { copyFile, cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { loadConfig } from '../../../config/load.ts'
import { SETTINGS } from '../../../config/schema.ts'
import { serviceLinksOf } from '../../../config/service-links.ts'
import { testFolder } from '../../support/instance/services.ts'
import {
  type Manifest,
  manifestFaults,
  readManifestFile,
  readManifests,
  serviceLinks,
} from '../../support/source/manifests.ts'

const folder = join(import.meta.dirname, '../../../deploy/kubernetes')
const OVERLAYS = ['one-node', 'cluster', 'cluster-keda']
const run = promisify(execFile)
const kubectlMissing = await run('kubectl', ['version', '--client']).then(
  () => false as const,
  () => 'kubectl is not installed',
)

interface Kustomization {
  resources: string[]
  patches?: ({ path?: string } | { target: { kind: string; name: string }; patch: string })[]
  secretGenerator?: { name: string; envs: string[] }[]
}

/** The template of the pods a workload makes; undefined for what makes none. */
const podsOf = ({ kind, spec }: Manifest) => {
  if (kind === 'CronJob') return spec.jobTemplate.spec.template
  return ['Deployment', 'StatefulSet', 'Job'].includes(kind) ? spec.template : undefined
}

async function kustomizationOf(overlay: string): Promise<Kustomization> {
  const [found] = await readManifestFile(join(folder, overlay, 'kustomization.yaml'))
  return found as unknown as Kustomization
}

/** The objects an overlay applies, before its patches. */
async function resourcesOf(overlay: string): Promise<Manifest[]> {
  const { resources } = await kustomizationOf(overlay)
  const all = await Promise.all(
    resources.map((path) => (path === '../base' ? resourcesOf('base') : readManifestFile(join(folder, overlay, path)))),
  )
  return all.flat()
}

t.test('a misspelt or unknown field of a manifest is found', async (t) => {
  const [service] = await readManifestFile(join(folder, 'base/api.yaml'))
  t.same(await manifestFaults(service!), [])
  const bad = structuredClone(service!) as Manifest
  bad.spec.template.spec.containers[0].imag = 'patchbay'
  bad.spec.replicas = 'one'
  const faults = (await manifestFaults(bad)).join('\n')
  t.match(faults, /containers\/0\/imag is no field/)
  t.match(faults, /replicas/)
  t.match(await manifestFaults({ ...service!, kind: 'StatefullSet' }), ['apps/v1 StatefullSet is no known kind'])
})

t.test('every manifest keeps to the schema of its kind', async (t) => {
  for (const overlay of OVERLAYS) {
    for (const manifest of await resourcesOf(overlay)) {
      t.same(await manifestFaults(manifest), [], `${overlay}: ${manifest.kind} ${manifest.metadata.name}`)
    }
  }
})

t.test('every patch and file of an overlay is there and changes something that is', async (t) => {
  for (const overlay of OVERLAYS) {
    const objects = new Set((await resourcesOf(overlay)).map(({ kind, metadata }) => `${kind} ${metadata.name}`))
    const { patches = [], secretGenerator = [] } = await kustomizationOf(overlay)
    for (const patch of patches) {
      const { path } = patch as { path?: string }
      const changed = path === undefined ? [] : await readManifestFile(join(folder, overlay, path))
      const target = 'target' in patch ? [`${patch.target.kind} ${patch.target.name}`] : []
      for (const name of [...target, ...changed.map(({ kind, metadata }) => `${kind} ${metadata.name}`)]) {
        t.ok(objects.has(name), `${overlay} patches ${name}`)
      }
    }
    const files = await readdir(join(folder, overlay))
    for (const { envs } of secretGenerator) {
      for (const env of envs) t.ok(files.includes(`${env}.example`), `${overlay}/${env}.example`)
    }
  }
})

t.test('settings and secrets of the manifests are settings of Patchbay', async (t) => {
  const known = new Set<string>(Object.values(SETTINGS).map(({ env }) => env))
  const others =
    /^(POD_IP|POSTGRES_PASSWORD|REDIS_PASSWORD|QDRANT_URL|QDRANT_API_KEY|S3_\w+|(OPENAI|DEEPGRAM|CARTESIA)_API_KEY)$/
  const isKnown = (name: string) => known.has(name) || others.test(name)
  const storeSecrets = /DATABASE_URL|REDIS_URL|REDIS_PASSWORD|QDRANT|JWT_API_SECRET|DATA_KEY|POSTGRES/
  for (const overlay of OVERLAYS) {
    for (const { kind, data } of await resourcesOf(overlay)) {
      if (kind === 'ConfigMap' && data.range === undefined)
        for (const name of Object.keys(data)) t.ok(isKnown(name), name)
    }
    for (const file of ['secrets.env.example', 'secrets-voice.env.example']) {
      const text = await readFile(join(folder, overlay, file), 'utf8')
      const names = [...text.matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name = '']) => name)
      t.ok(names.length > 3)
      for (const name of names) t.ok(isKnown(name), `${overlay}/${file}: ${name}`)
      if (file.includes('voice'))
        t.notOk(
          names.some((name) => storeSecrets.test(name)),
          'voice workers get no key of the store',
        )
    }
  }
  for (const manifest of await resourcesOf('base')) {
    for (const { name } of podsOf(manifest)?.spec.containers[0].env ?? []) t.ok(isKnown(name), name)
  }
})

t.test('pods of calls are given longer than their calls have', async (t) => {
  const base = await resourcesOf('base')
  const settings = base.find(({ kind }) => kind === 'ConfigMap')?.data
  const neededS = (Number(settings.PATCHBAY_LEAVE_MS) + Number(settings.PATCHBAY_DRAIN_MS)) / 1_000
  for (const name of ['api', 'voice']) {
    const workload = base.find(({ kind, metadata }) => metadata.name === name && /Deployment|StatefulSet/.test(kind))
    t.ok(workload!.spec.template.spec.terminationGracePeriodSeconds > neededS, name)
    t.ok(base.some(({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name === name))
  }
})

t.test('voice workers dial every api node there is', async (t) => {
  for (const overlay of ['cluster', 'cluster-keda']) {
    const [nodes] = await readManifestFile(join(folder, overlay, 'nodes-patch.yaml'))
    const [settings] = await readManifestFile(join(folder, overlay, 'settings-patch.yaml'))
    const urls = Array.from({ length: nodes!.spec.replicas }, (_, at) => `ws://api-${at}.api:8080`)
    t.equal(settings!.data.PATCHBAY_API_URLS, urls.join(','))
  }
})

t.test('each overlay is rendered, and what comes out keeps to the schemas', { skip: kubectlMissing }, async (t) => {
  const copy = join(await testFolder(t), 'kubernetes')
  await cp(folder, copy, { recursive: true })
  for (const overlay of OVERLAYS) {
    for (const file of ['secrets.env', 'secrets-voice.env']) {
      await copyFile(join(copy, overlay, `${file}.example`), join(copy, overlay, file))
    }
    const { stdout } = await run('kubectl', ['kustomize', join(copy, overlay)])
    const rendered = readManifests(stdout)
    // YAML folds long values; base64 has no line breaks.
    for (const { kind, data } of rendered) {
      if (kind === 'Secret') for (const name of Object.keys(data)) data[name] = data[name].replaceAll(/\s/g, '')
    }
    t.ok(rendered.length > 12, overlay)
    for (const manifest of rendered) {
      t.same(await manifestFaults(manifest), [], `${overlay}: ${manifest.kind} ${manifest.metadata.name}`)
      if (manifest.kind !== 'Namespace') t.equal(manifest.metadata.namespace, 'patchbay')
    }
    const names = rendered.filter(({ kind }) => kind === 'Secret').map(({ metadata }) => metadata.name)
    const voice = rendered.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'voice')
    t.ok(
      names.includes(voice!.spec.template.spec.containers[0].envFrom[1].secretRef.name),
      'the secret is found by its name',
    )
  }
})

t.test('every policy that lets machines in takes their range from one value', { skip: kubectlMissing }, async (t) => {
  const copy = join(await testFolder(t), 'kubernetes')
  await cp(folder, copy, { recursive: true })
  const place = join(copy, 'base/machines.yaml')
  await writeFile(place, (await readFile(place, 'utf8')).replace('10.0.0.0/8', '192.0.2.0/28'))
  for (const overlay of OVERLAYS) {
    for (const file of ['secrets.env', 'secrets-voice.env']) {
      await copyFile(join(copy, overlay, `${file}.example`), join(copy, overlay, file))
    }
    const { stdout } = await run('kubectl', ['kustomize', join(copy, overlay)])
    const cidrs = [...stdout.matchAll(/cidr: (\S+)/g)].map(([, cidr]) => cidr)
    t.equal(cidrs.filter((cidr) => cidr === '192.0.2.0/28').length, overlay === 'one-node' ? 6 : 3, overlay)
    t.same([...new Set(cidrs)].sort(), ['0.0.0.0/0', '192.0.2.0/28'], overlay)
    t.notMatch(stdout, 'name: machines', 'which is no object of the cluster')
  }
})

t.test('the stores of one node want passwords, and no container has privileges it can do without', async (t) => {
  const text = await readFile(join(folder, 'one-node/secrets.env.example'), 'utf8')
  for (const name of ['POSTGRES_PASSWORD', 'REDIS_PASSWORD', 'QDRANT_API_KEY']) t.match(text, `${name}=change-me`)
  t.match(text, /REDIS_URL=redis:\/\/:change-me[^@]*@redis/)
  for (const manifest of await resourcesOf('one-node')) {
    for (const { securityContext } of podsOf(manifest)?.spec.containers ?? []) {
      const name = manifest.metadata.name
      t.match(securityContext, { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }, name)
    }
  }
  const redis = (await resourcesOf('one-node')).find(
    ({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'redis',
  )
  const started = redis?.spec.template.spec.containers[0].args.join(' ')
  t.match(started, 'echo "requirepass $REDIS_PASSWORD" >/tmp/redis.conf')
  t.notMatch(started, '--requirepass', 'no list of processes has the password')
})

t.test('no pod is told of Services by variables, and where it is the settings are read all the same', async (t) => {
  const ofOperator = {
    metadata: { name: 'patchbay-sip' },
    spec: { ports: [{ name: 'sip', port: 5060, protocol: 'UDP' }] },
  }
  for (const overlay of OVERLAYS) {
    const resources = await resourcesOf(overlay)
    const pods = resources.filter(({ kind }) => ['Deployment', 'StatefulSet', 'Job'].includes(kind))
    t.ok(pods.length >= 4, overlay)
    for (const { metadata, spec } of pods) t.equal(spec.template.spec.enableServiceLinks, false, metadata.name)
    const services = resources.filter(({ kind, spec }) => kind === 'Service' && spec.ports !== undefined)
    const links = Object.assign({}, ...[...services, ofOperator as unknown as Manifest].map((one) => serviceLinks(one)))
    t.equal(links.PATCHBAY_SERVICE_HOST, '10.96.0.7')
    t.equal(links.PATCHBAY_SIP_PORT, 'udp://10.96.0.7:5060')
    const settings = resources.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'patchbay')?.data
    const config = loadConfig({ ...settings, ...links })
    t.equal(config.publicUrl, 'https://patchbay.example.com')
    t.same(
      serviceLinksOf({ ...settings, ...links }).sort(),
      Object.keys(links)
        .filter((name) => name.startsWith('PATCHBAY_'))
        .sort(),
    )
    t.same(config, loadConfig(settings), 'a link is no setting')
  }
})

t.test('a variable that only looks like a setting is still refused', (t) => {
  for (const name of ['PATCHBAY_SERVICE_HOSTS', 'PATCHBAY_PORT', 'PATCHBAY_SIP_PORT_5060']) {
    t.throws(() => loadConfig({ [name]: '8080' }), { code: 'configuration' }, name)
  }
  t.equal(serviceLinksOf({ PATCHBAY_SIP_PORT: '5060', PATCHBAY_ADMIN_PORT: '9080' }).length, 0)
  t.end()
})

t.test('every role runs on a file system that it can only read, but for folders of its own', async (t) => {
  let roles = 0
  for (const overlay of OVERLAYS) {
    for (const manifest of await resourcesOf(overlay)) {
      const pods = podsOf(manifest)
      const [{ image, securityContext, volumeMounts }] = pods?.spec.containers ?? [{ image: '' }]
      if (!/patchbay/.test(image)) continue
      const { metadata } = manifest
      roles++
      t.equal(securityContext.readOnlyRootFilesystem, true, `${overlay}: ${metadata.name}`)
      const paths = volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath).sort()
      const own = metadata.name === 'backup' ? ['/backups'] : []
      t.same(paths, [...own, '/data', '/home/node/.cache', '/tmp'], `${overlay}: ${metadata.name}`)
      const volumes = pods.spec.volumes.map(({ name }: { name: string }) => name)
      for (const { name } of volumeMounts) t.ok(volumes.includes(name), `${metadata.name} has the volume ${name}`)
    }
  }
  t.ok(roles >= 4)
})

t.test('the nightly backup has the recordings, and may ask the database', async (t) => {
  const oneNode = await resourcesOf('one-node')
  const [patch] = await readManifestFile(join(folder, 'one-node/files-patch-backup.yaml'))
  t.match(podsOf(patch!).spec.containers[0].volumeMounts, [{ name: 'files', mountPath: '/data' }])
  const policy = oneNode.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'postgres')
  const backup = oneNode.find(({ kind }) => kind === 'CronJob')!
  const labels = podsOf(backup).metadata.labels
  const froms = policy?.spec.ingress[0].from as { podSelector?: { matchLabels: object } }[]
  t.ok(froms.some(({ podSelector }) => JSON.stringify(podSelector?.matchLabels) === JSON.stringify(labels)))
  t.match(podsOf(backup).spec.containers[0].args, ['backup', /\/$/, '--verify'], 'in a folder, and verified')
})
