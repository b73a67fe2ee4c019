import { type Static, type TSchema, Type } from 'typebox'
import { Page, PageQuery, pageOf } from './schema.ts'

/** Lists that are arrays, and pages of the envelope when `page` or `page_size` is given. */

const DEFAULT_PAGE_SIZE = 25

export const ListQuery = Type.Object({
  page: Type.Optional(Type.Integer({ ...PageQuery.page, default: undefined })),
  page_size: Type.Optional(Type.Integer({ ...PageQuery.page_size, default: undefined })),
})

/** The answer's schema. */
export function ListOf<T extends TSchema>(item: T) {
  return Type.Union([Type.Array(item), Page(item)])
}

/** The rows a query asks for; undefined when it asks for all. */
export function windowOf(query: Static<typeof ListQuery>): { offset: number; limit: number } | undefined {
  if (query.page === undefined && query.page_size === undefined) return undefined
  const { page = 1, page_size = DEFAULT_PAGE_SIZE } = query
  return { offset: (page - 1) * page_size, limit: page_size }
}

/** The rows in the form asked for. `total` counts all, where `items` is only the window. */
export function listBody<T>(items: T[], total: number, query: Static<typeof ListQuery>) {
  const { page = 1, page_size = DEFAULT_PAGE_SIZE } = query
  return windowOf(query) === undefined ? items : pageOf(items, total, { page, page_size })
}

/** A short list, all of it in memory, in the form asked for. */
export function listOf<T>(items: T[], query: Static<typeof ListQuery>) {
  const window = windowOf(query)
  return listBody(window ? items.slice(window.offset, window.offset + window.limit) : items, items.length, query)
}
