import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeAgent } from '../../../scripts/demo/call.ts'
import { openWebCall } from '../../support/browser/web-call.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { testFolder } from '../../support/instance/services.ts'
import { freePort } from '../../support/sip/sip-peers.ts'
import { readManifestFile } from '../../support/source/manifests.ts'
import { matchesSnapshot } from '../../support/source/snapshot.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const root = join(import.meta.dirname, '../../..')
const folder = join(root, 'deploy/prometheus')
const run = promisify(execFile)
const promtool = async (...args: string[]): Promise<string> => {
  const { stdout, stderr } = await run('promtool', args).catch((error) => error)
  return `${stdout}${stderr}`
}
const missing = await run('promtool', ['--version']).then(
  () => false as const,
  () => 'promtool is missing: apt-get install prometheus',
)

interface Dashboard {
  panels: { type: string; title: string; targets?: { expr: string }[] }[]
}
const dashboards = (await readdir(join(root, 'deploy/grafana'))).filter((name) => name.endsWith('.json'))
const readDashboard = async (name: string): Promise<Dashboard> =>
  JSON.parse(await readFile(join(root, 'deploy/grafana', name), 'utf8'))
const expressions = (await Promise.all(dashboards.map(readDashboard))).flatMap(({ panels }) =>
  panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
)
const TEST_FILES = ['patchbay.rules.test.yml', 'patchbay.objective.test.yml']
const rules = await readFile(join(folder, 'patchbay.rules.yml'), 'utf8')

/** The metrics an expression reads; those the rules record are not the roles'. */
function metricsIn(text: string): string[] {
  return [...new Set(text.match(/\bpatchbay_[a-z0-9_]+/g) ?? [])].map((name) =>
    name.replace(/_(bucket|count|sum)$/, ''),
  )
}

/** What Prometheus itself adds to what it scrapes, and histograms have. */
const STANDING = ['instance', 'job', 'le', 'namespace', 'pod']

/** Labels that an expression reads of a metric which has none of that name, where the metric has a value in `pages`. */
function strangeLabels(expression: string, pages: string): string[] {
  const strange: string[] = []
  const selectors = [...expression.matchAll(/\b((?:patchbay)_[a-z0-9_]+)(?:\{([^}]*)\})?/g)]
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/))
  for (const [, name = '', inside = ''] of selectors) {
    const samples = [...pages.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? `, 'gm'))]
    if (samples.length === 0) continue
    const known = new Set(
      samples.flatMap(([, labels = '']) => [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label)),
    )
    const read = [...inside.matchAll(/(\w+)(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
    for (const label of [...read, ...grouped]) {
      if (!known.has(label) && !STANDING.includes(label)) strange.push(`${name} has no label ${label}: ${expression}`)
    }
  }
  return strange
}

t.test(
  'the alert rules and the scrape configuration are well-formed, and each rule does what it says',
  {
    skip: missing,
  },
  async (t) => {
    t.match(await promtool('check', 'rules', join(folder, 'patchbay.rules.yml')), /SUCCESS/)
    t.match(await promtool('check', 'config', '--syntax-only', join(folder, 'prometheus.yml')), /SUCCESS/)
    for (const file of TEST_FILES) t.match(await promtool('test', 'rules', join(folder, file)), /SUCCESS/)
  },
)

t.test('every alert is tested, and has its cure in docs/operations.md', async (t) => {
  const docs = await readFile(join(root, 'docs/operations.md'), 'utf8')
  const tests = (await Promise.all(TEST_FILES.map((file) => readFile(join(folder, file), 'utf8')))).join('\n')
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
  t.ok(alerts.length > 8)
  for (const alert of alerts) {
    t.match(tests, `alertname: ${alert}, exp_alerts: []`, `${alert} is silent in a test`)
    t.match(tests, new RegExp(`alertname: ${alert}\\n\\s+exp_alerts:\\n`), `${alert} fires in a test`)
    t.match(docs, new RegExp(`^#### ${alert}$`, 'm'), alert)
    t.match(rules, `docs/operations.md#${alert.toLowerCase()}`, alert)
  }
})

t.test('the PodMonitors select the pods of the manifests, and the rules know their jobs', async (t) => {
  const monitors = await readManifestFile(join(folder, 'podmonitors.yml'))
  const down = /PatchbayDown\n\s+expr: up\{job=~"([^"]+)"\}/.exec(rules)?.[1] ?? ''
  t.equal(monitors.length, 3)
  for (const { metadata, spec } of monitors) {
    t.match(`patchbay/${metadata.name}`, new RegExp(`^(?:${down})$`))
    t.match(metadata.name, new RegExp(`^(?:${down})$`), 'as prometheus.yml has it')
    const role = metadata.name.replace('patchbay-', '')
    const manifests = await readManifestFile(join(root, `deploy/kubernetes/base/${role}.yaml`))
    const pods = manifests.find(({ kind }) => /Deployment|StatefulSet/.test(kind))?.spec.template
    t.same(spec.selector.matchLabels, pods?.metadata.labels, role)
    const ports = pods?.spec.containers[0].ports.map(({ name }: { name: string }) => name)
    for (const { port } of spec.podMetricsEndpoints) t.ok(ports.includes(port), `${role} has the port ${port}`)
  }
})

t.test('every expression of the dashboard is well-formed', { skip: missing }, async (t) => {
  t.ok(expressions.length > 20)
  const record = (expr: string, at: number) =>
    `      - record: panel:${at}\n        expr: ${JSON.stringify(expr.replaceAll('$__rate_interval', '1m'))}\n`
  const file = join(await testFolder(t), 'panels.yml')
  await writeFile(file, `groups:\n  - name: panels\n    rules:\n${expressions.map(record).join('')}`)
  t.match(await promtool('check', 'rules', file), /SUCCESS/)
})

t.test('each role serves its health, readiness and metrics on a port of its own', async (t) => {
  const [api, jobs, voice] = [await freePort(), await freePort(), await freePort()]
  const token = 'a-token-of-the-operator'
  const instance = await startInstance(t, {
    PATCHBAY_ADMIN_PORT: String(api),
    PATCHBAY_JOBS_ADMIN_PORT: String(jobs),
    PATCHBAY_VOICE_ADMIN_PORT: String(voice),
    PATCHBAY_METRICS_TOKEN: token,
  })
  const { rest, agentId } = await makeAgent(instance.url)
  const { session, ended } = await openWebCall(rest, agentId)
  session.send({ type: 'end' })
  await ended
  await waitUntil(async () => {
    const { items } = await rest.send<{ items: { status: string }[] }>('GET', '/calls/logs')
    return items.some(({ status }) => status === 'completed')
  })
  const get = (port: number, path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const pages: string[] = []
  for (const [role, port] of Object.entries({ api, jobs, voice })) {
    t.equal((await get(port, '/health')).status, 200, role)
    let standing: { ready?: boolean } = {}
    // A database that a busy machine keeps waiting for two seconds is none for so long.
    await waitUntil(async () => {
      standing = (await (await get(port, '/ready')).json()) as { ready: boolean }
      return standing.ready === true
    })
    t.match(standing, { ready: true, status: 'ready' }, role)
    t.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 401, role)
    const page = await (await get(port, '/metrics')).text()
    t.match(page, `patchbay_process_info{roles="${role}"} 1`)
    pages.push(page)
    if (missing !== false) continue
    const file = join(await testFolder(t), `${role}.prom`)
    await writeFile(file, page)
    const { stdout, stderr } = await run('sh', ['-c', `promtool check metrics < ${file}`]).catch((error) => error)
    t.same(`${stdout}${stderr}`, '', `promtool finds no fault with the metrics of ${role}`)
  }
  const named = new Set(pages.flatMap((page) => [...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)))
  await matchesSnapshot(
    t,
    'metrics.txt',
    `${[...named]
      .filter((name) => name?.startsWith('patchbay_'))
      .sort()
      .join('\n')}\n`,
  )
  for (const metric of new Set([rules, ...expressions].flatMap(metricsIn))) {
    t.ok(named.has(metric), `${metric} is served by a role`)
  }
  const docs = await readFile(join(root, 'docs/operations.md'), 'utf8')
  const inDocs = [...docs.matchAll(/`([^`\n]*\(patchbay_[^`\n]*)`/g)].map(([, text = '']) => text)
  const strange = [...expressions, ...inDocs].flatMap((text) => strangeLabels(text, pages.join('\n')))
  t.same(strange, [], 'expressions of dashboards and of docs/operations.md read labels that metrics have')
  t.ok(inDocs.length > 0)
  for (const metric of metricsIn(docs)) t.ok(named.has(metric), `${metric} of docs/operations.md is served by a role`)
  t.equal(await instance.stop('SIGTERM'), 0)
})
