import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { renderMarkdown } from '../../../../api/docs/render-markdown.ts'
import { GROUPS } from '../../../../api/docs/site.ts'
import { startTestApi } from '../../../support/instance/api.ts'

const FOLDER = join(import.meta.dirname, '../../../../docs')

t.test('every page of docs/ stands in the navigation once', async (t) => {
  const pages = readdirSync(FOLDER, { recursive: true }).map(String)
  const listed = GROUPS.flatMap(([, paths]) => paths)
  t.same([...listed].sort(), pages.filter((path) => path.endsWith('.md')).sort())
})

t.test('the documentation of an instance', async (t) => {
  const api = await startTestApi(t)
  const client = api.client()
  const get = async (path: string) => {
    const answer = await client.get(path)
    return { ...answer, links: [...answer.text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link) }
  }

  await t.test(
    'has every page, with links and pictures that lead somewhere, and loads nothing from elsewhere',
    async (t) => {
      const ids = new Map<string, Set<string>>()
      const wanted = new Set<string>()
      const open = ['/docs']
      for (let path = open.pop(); path !== undefined; path = open.pop()) {
        if (ids.has(path)) continue
        const { status, text, links, headers } = await get(path)
        t.equal(status, 200, path)
        ids.set(path, new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)))
        if (!headers.get('content-type')?.startsWith('text/html')) continue
        t.match(headers.get('content-security-policy'), "default-src 'none'", path)
        t.notMatch(text, /<(?:script|img|link)[^>]+(?:src|href)="(?:https?:)?\/\//, `${path} loads from elsewhere`)
        for (const link of links) {
          const { origin, pathname, hash } = new URL(link, `http://here${path}`)
          if (origin !== 'http://here' || !pathname.startsWith('/docs')) continue
          if (pathname !== '/docs/reference') open.push(pathname)
          if (hash !== '') wanted.add(`${pathname}${hash}`)
        }
      }
      for (const [, paths] of GROUPS)
        for (const path of paths)
          t.ok(ids.has(`/docs/${path.replace(/\/README\.md$|\.md$/, '').replaceAll('/', '.')}`), path)
      for (const place of wanted) {
        const [path = '', id = ''] = place.split('#')
        t.ok(ids.get(path)?.has(decodeURIComponent(id)), `${place} exists`)
      }
    },
  )

  await t.test('is searched by the beginnings of words, by headings first', async (t) => {
    const { text, links } = await get('/docs/search?q=guardr')
    t.match(text, '<mark>guardrails</mark>')
    t.ok(links.includes('/docs/agents.guardrails'), links.join(' '))
    t.match((await get('/docs/search?q=xyzzyplugh')).text, 'Nothing has these words')
    t.match((await get('/docs/search')).text, 'Type what you look for')
  })

  await t.test('says what was searched for as text', async (t) => {
    const { status, text } = await get(`/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`)
    t.equal(status, 200)
    t.notMatch(text, '<script')
    for (const words of ['trunk', "it's", 'a|b', '(', '[', '\\', 'c++', '%'])
      t.equal((await get(`/docs/search?q=${encodeURIComponent(words)}`)).status, 200, words)
    t.equal((await get(`/docs/search?q=${'x'.repeat(201)}`)).status, 422)
  })

  await t.test('answers 404 where there is no page', async (t) => {
    for (const path of ['nothing', 'agents%2fversions.md', '..%2fpackage.json', 'toString', '__proto__'])
      t.equal((await get(`/docs/${path}`)).status, 404, path)
  })
})

t.test('a page of Markdown', async (t) => {
  const files = new Set(['a.md', 'b/c.md', 'b/README.md', 'p.webp'])
  const render = (text: string, path = 'a.md') => renderMarkdown(text, path, files)

  t.test('leads to the pages and pictures that are served, and to no file of the repository', async (t) => {
    const { html } = render(
      '[one](b/c.md#x) [two](b/README.md) [three](../cli) [four](https://example.com) ![p](p.webp)',
    )
    for (const part of ['href="/docs/b.c#x"', 'href="/docs/b"', 'href="https://example.com"', 'src="/docs/p.webp"'])
      t.match(html, part)
    t.match(html, ' three ')
    t.match(render('[up](../a.md)', 'b/c.md').html, 'href="/docs/a"')
  })

  t.test('has HTML, and what stands in code, as text', async (t) => {
    const { html } = render(
      '# T\n\n<img src=x onerror=alert(1)> `<b>` \n\n```html\n<script>x</script>\n```\n[x](javascript:alert(1))',
    )
    t.notMatch(html, /<img|<b>|<script|javascript:/)
  })

  t.test('has a title, a lead and sections with ids as GitHub makes them', async (t) => {
    const { title, lead, sections } = render(
      "# It's `here`\n\nFirst *words*.\n\n## A & b\n\nx\n\n## A & b\n\n| q | r |\n|-|-|\n| s | t |\n",
    )
    t.same([title, lead], ["It's here", 'First words.'])
    t.match(sections, [{ id: 'its-here' }, { id: 'a--b', title: 'A & b' }, { id: 'a--b-1', text: /q r\ns t/ }])
  })
})
