import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { buildInfo } from '../../../runtime/process/build-info.ts'

const ROOT = join(import.meta.dirname, '../../..')
const page = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')
const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
const [first, ...released] = headings
const versions = released.map((heading) => {
  const [, version = '', day = ''] = /^(\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)$/.exec(heading) ?? []
  return { heading, version, day }
})

t.test('each version that was released has its day, the newest first, and the newest is this one', async (t) => {
  t.equal(first, 'Unreleased')
  for (const { heading, version, day } of versions) {
    t.not(version, '', heading)
    t.equal(new Date(`${day}T00:00:00Z`).toISOString().slice(0, 10), day, heading)
  }
  const days = versions.map(({ day }) => day)
  t.same(days, [...days].sort().reverse())
  const numbers = versions.map(({ version }) => version)
  const inOrder = numbers.toSorted((one, other) => other.localeCompare(one, 'en', { numeric: true }))
  t.same(numbers, inOrder)
  t.equal(numbers[0], buildInfo().version, 'package.json has the newest version')
})

t.test('every entry stands under a version, once', async (t) => {
  const [before = '', ...sections] = page.split(/^## .+$/m)
  t.equal(before.trim(), '# Changelog')
  const entries = sections.flatMap((section) => section.split(/^- /m).slice(1))
  const words = entries.map((entry) => entry.split('\n')[0]?.slice(0, 60))
  t.same(
    words.filter((one, at) => words.indexOf(one) !== at),
    [],
  )
})
