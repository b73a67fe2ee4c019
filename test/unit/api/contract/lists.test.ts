import t from 'tap'
import type { AnyRoute } from '../../../../api/route.ts'
import { routes } from '../../../../api/routes.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { furnish, inputTo, pathTo } from './world.ts'

/** What an answer's or a query's schema says, as far as it is looked at here. */
interface Schema {
  type?: string
  anyOf?: readonly Schema[]
  properties?: Readonly<Record<string, Schema>>
}

/** Lists of another kind: a feed with a cursor of its own, and figures, one row a mark. */
const OTHERS = new Set(['/events', '/tests/judge/agreement'])
const ENVELOPE = ['items', 'page', 'page_size', 'total', 'total_pages']

const formsOf = (schema: Schema): readonly Schema[] => schema.anyOf ?? [schema]
const fieldsOf = (schema: Schema | undefined): string[] => Object.keys(schema?.properties ?? {})
const isArray = ({ type }: Schema): boolean => type === 'array'

function isList(route: AnyRoute): boolean {
  const forms = formsOf(route.success.schema as Schema)
  const holdsItems = ({ properties }: Schema) => properties?.items?.type === 'array'
  return route.method === 'GET' && !OTHERS.has(route.path) && forms.some((form) => isArray(form) || holdsItems(form))
}

t.test('every list is a page where one is asked for, of 1 to 200 items, and goes on by its cursor', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const theirs = await furnish(api, ada)
  const lists = routes.filter(isList)
  t.ok(lists.length > 30, `${lists.length} lists`)
  for (const route of lists) {
    const { query: own, ...input } = inputTo(route, theirs)
    const ask = (query: Record<string, string | number>) =>
      ada.client.get(pathTo(route, theirs), { ...input, query: { ...own, ...query } })
    const { status, body: page } = await ask({ page: 1, page_size: 1 })
    t.equal(status, 200, route.path)
    t.same(fieldsIn(page), ENVELOPE, route.path)
    t.ok(
      page.items?.length <= 1 && page.items.length === Math.min(1, page.total),
      `${route.path}: one item of a page of one`,
    )
    t.match(page, { page: 1, page_size: 1, total_pages: page.total }, route.path)
    const { body: whole } = await ask({})
    if (formsOf(route.success.schema as Schema).some(isArray))
      t.ok(Array.isArray(whole), `${route.path} without a page`)
    for (const [field, wrong] of [
      ['page_size', 0],
      ['page_size', 201],
      ['page', 0],
    ] as const) {
      t.equal((await ask({ [field]: wrong })).status, 422, `${route.path} ${field} ${wrong}`)
    }
    const named = fieldsOf(route.query as Schema | undefined)
    if (named.includes('updated_since')) {
      t.equal((await ask({ updated_since: 'yesterday' })).status, 422, `${route.path} since yesterday`)
      const none = await ask({ updated_since: '2199-01-01T00:00:00Z', page: 1 })
      t.match(none.body, { items: [], total: 0 }, `${route.path} since the future`)
    }
    if (!named.includes('after')) continue
    t.equal((await ask({ after: 'nonsense' })).status, 422, `${route.path} after nonsense`)
    const first = await ask({ after: 'first', page_size: 200 })
    t.same(fieldsIn(first.body), [...ENVELOPE, 'next'].sort(), route.path)
    t.equal(first.body.next, null, `${route.path}: all of it`)
  }
})

const fieldsIn = (body: unknown): string[] => (Array.isArray(body) ? ['an array'] : Object.keys(body ?? {}).sort())
