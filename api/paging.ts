import { type Static, type TSchema, Type } from 'typebox'
import type { ListPart } from '../store/database/list-place.ts'
import { type Cursor, CursorPage, CursorQuery, cursorPageOf, partOf } from './cursor.ts'
import { Page, PageQuery } from './schema.ts'

/** Lists that are arrays, and pages of the envelope when `page` or `page_size` is given. */

const DEFAULT_PAGE_SIZE = 25

export const ListQuery = Type.Object({
  page: Type.Optional(Type.Integer({ ...PageQuery.page, default: undefined })),
  page_size: Type.Optional(Type.Integer({ ...PageQuery.page_size, default: undefined })),
})

/** Of lists that may be long, which `after` makes pages as well. */
export const LongListQuery = Type.Object({ ...ListQuery.properties, after: CursorQuery.after })

/** The answer's schema. */
export function ListOf<T extends TSchema>(item: T) {
  return Type.Union([Type.Array(item), Page(item)])
}

export function LongListOf<T extends TSchema>(item: T) {
  return Type.Union([Type.Array(item), CursorPage(item)])
}

type ListFields = Static<typeof ListQuery> & { readonly after?: string }

/** The query with its defaults; undefined when it asks for all. */
function pageIn({ page, page_size, after }: ListFields) {
  if (page === undefined && page_size === undefined && after === undefined) return undefined
  return { page: page ?? 1, page_size: page_size ?? DEFAULT_PAGE_SIZE, ...(after !== undefined && { after }) }
}

/** The rows a query asks for; undefined when it asks for all. @param place where its cursor leads */
export function windowOf(query: ListFields, place?: Cursor): ListPart | undefined {
  const page = pageIn(query)
  return page && partOf(page, place)
}

/** The rows in the form asked for. `total` counts all, where `items` is only the window, which ends with `last`. */
export function listBody<T>(items: T[], total: number, query: ListFields, last?: Cursor) {
  const page = pageIn(query)
  return page === undefined ? items : cursorPageOf(items, total, page, last)
}

/** A short list, all of it in memory, in the form asked for. */
export function listOf<T>(items: T[], query: Static<typeof ListQuery>) {
  const window = windowOf(query)
  return listBody(window ? items.slice(window.offset, window.offset + window.limit) : items, items.length, query)
}
