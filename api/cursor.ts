import { type Static, type TSchema, Type } from 'typebox'
import type { ListOrder, ListPart } from '../store/database/list-place.ts'
import { isUuid } from './ids.ts'
import { Page, PageQuery, pageOf, parseInstant, ValidationError } from './schema.ts'

/**
 * Lists that are read on from where the answer before ended, whatever came or went meanwhile. A cursor is opaque to callers: the id of the
 * last item and, of a list that is not in the order of its ids, what that item is sorted by.
 */

export interface Cursor {
  readonly id: string
  /** ISO 8601. */
  readonly at?: string
}

/** Room for the longest id: a SIP URI. */
const MAX_CURSOR = 500
/** The `after` of a list's beginning. */
const FIRST = 'first'

/** The query fields of such a list. */
export const CursorQuery = {
  ...PageQuery,
  after: Type.Optional(
    Type.String({
      maxLength: MAX_CURSOR,
      description:
        '`first`, then the `next` of the answer before: the list is read on behind it. `page` does not count then.',
    }),
  ),
}

/** The envelope; with `after` it says where to go on. */
export function CursorPage<T extends TSchema>(item: T) {
  const { properties } = Page(item)
  return Type.Object({
    ...properties,
    next: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Where `after` was given: the `after` of the next request; null: this is the end.',
      }),
    ),
  })
}

const CursorFields = Type.Object(CursorQuery)
type CursorFields = Static<typeof CursorFields>

/**
 * Where to begin; undefined: at the page. Throws 422 for what is no `next` of an answer.
 *
 * @param isId whether a text is an id of the list's items
 */
export function cursorOf({ after }: Pick<CursorFields, 'after'>, isId = isUuid): Cursor | undefined {
  if (after === undefined || after === FIRST) return undefined
  const [id = '', at, ...rest] = Buffer.from(after, 'base64url').toString().split(' ')
  if (isId(id) && rest.length === 0 && (at === undefined || !Number.isNaN(Date.parse(at)))) {
    return at === undefined ? { id } : { id, at }
  }
  throw wrongCursor()
}

function wrongCursor(): ValidationError {
  const msg = 'is no `next` of an answer of this list'
  return new ValidationError([{ loc: ['query', 'after'], msg, type: 'value_error' }])
}

/** The cursor of a list that is sorted by a time. Throws 422 for one of another list. */
export function timed(cursor: Cursor | undefined): Cursor | undefined {
  if (cursor !== undefined && cursor.at === undefined) throw wrongCursor()
  return cursor
}

/** The part of the list that the query asks for. @param place where its cursor leads */
export function partOf({ page, page_size, after }: CursorFields, place: Cursor | undefined): ListPart {
  return { offset: after === undefined ? (page - 1) * page_size : 0, limit: page_size, after: place }
}

/** @param last the item that the answer ends with */
export function cursorPageOf<T>(items: T[], total: number, query: CursorFields, last: Cursor | undefined) {
  if (query.after === undefined) return pageOf(items, total, query)
  const isEnd = last === undefined || items.length < query.page_size
  const next = isEnd
    ? null
    : Buffer.from(last.at === undefined ? last.id : `${last.id} ${last.at}`).toString('base64url')
  return { ...pageOf(items, total, query), next }
}

/** The query fields of a list that is also sorted by one of these. */
export function SortQuery<const By extends string>(by: readonly By[]) {
  return {
    sort: Type.Optional(
      Type.Enum([...by], {
        description:
          'Sorts by it instead of the list’s own order; what is not known comes last. Not with `after` or `updated_since`.',
      }),
    ),
    order: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'The way `sort` goes.', default: 'desc' })),
  }
}

/** How such a list is sorted; undefined: in its own order. Throws 422 where the list is read on from a place. */
export function orderIn<By extends string>(query: {
  sort?: By
  order?: 'asc' | 'desc'
  after?: string
  updated_since?: string
}): ListOrder<By> | undefined {
  const { sort, order = 'desc', after, updated_since } = query
  if (sort === undefined) return undefined
  if (after === undefined && updated_since === undefined) return { by: sort, direction: order }
  throw new ValidationError([
    { loc: ['query', 'sort'], msg: 'goes neither with after nor with updated_since', type: 'value_error' },
  ])
}

/** A filter of lists that can be read by change. */
export const UpdatedSince = Type.Optional(
  Type.String({
    format: 'date-time',
    description: 'Changed then or later, in the order of the changes. Ask again from a minute before your last answer.',
  }),
)

/** A filter of lists that stay in their order. */
export const ChangedSince = Type.Optional(Type.String({ format: 'date-time', description: 'Changed then or later.' }))

export const instantIn = (text: string | undefined): Date | undefined =>
  text === undefined ? undefined : parseInstant(text)

/** A filter of lists whose items never change. */
export const AddedSince = Type.Optional(Type.String({ format: 'date-time', description: 'Added then or later.' }))

/** Of a list that is sorted by id, and with `updated_since` by change: where to begin. */
export function placeIn(query: { after?: string; updated_since?: string }): Cursor | undefined {
  return query.updated_since === undefined ? cursorOf(query) : timed(cursorOf(query))
}

/** Where the item of such a list stands. */
export function placeOf(query: { updated_since?: string }, item: { id: string; sorted_by: string }): Cursor {
  return query.updated_since === undefined ? { id: item.id } : { id: item.id, at: item.sorted_by }
}

/** The end of a list that is sorted by id. */
export function lastOf(rows: readonly { id: string }[]): Cursor | undefined {
  const last = rows.at(-1)
  return last && { id: last.id }
}
