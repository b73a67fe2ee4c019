import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '../../..')
const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'deploy/kubernetes/README.md'],
  ...(await readdir(join(root, 'docs'), { recursive: true }))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

/** As the site of a repository makes them from headings. */
function anchorsOf(text: string): Set<string> {
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

t.test('every link of a page leads somewhere', async (t) => {
  for (const page of pages) {
    const text = await readFile(join(root, page), 'utf8')
    const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '')
    for (const [, target = ''] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? join(root, page) : join(root, dirname(page), path)
      const found = await stat(file).catch(() => undefined)
      t.ok(found, `${page}: ${target}`)
      if (anchor === undefined || !found?.isFile()) continue
      t.ok(anchorsOf(await readFile(file, 'utf8')).has(anchor), `${page}: ${target}`)
    }
  }
})
