import type { ToolCall } from '../../packages/plugin/mod.ts'
import { Diary } from './diary.ts'
import type { DemoTool } from './tools.ts'
import { LANGUAGES, type Words } from './words.ts'

const MAX_WORKSPACES = 500
const FIRST_HOUR = 9
const LAST_HOUR = 17
const MAX_TIMES = 4
const MAX_NIGHTS = 14
const DAY_MS = 86_400_000
const SUNDAY = 0
const MONDAY = 1
const SATURDAY = 6

/** What a tool was given; each is there, for the arguments fit its schema. */
interface Input {
  readonly date: string
  readonly time: string
  readonly room: string
  readonly service: string
  readonly nights: number
  readonly name: string
  readonly customer_number: string
}

interface Asked {
  readonly input: Input
  readonly words: Words
  readonly language: string
  readonly diary: Diary
}

type Said = readonly [keyof Words['says'], Readonly<Record<string, string | number>>?]

/**
 * The offices behind the sample agents. Each workspace has a diary of its own, in memory: what it books is taken from then on, and
 * forgotten at the next start.
 */
export class DemoBackend {
  readonly #nowMs: () => number
  readonly #diaries = new Map<string, Diary>()

  /** `nowMs`: the time, in ms since 1970. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** What is said to the caller. The same `key` books once. @throws where there is no such tool. */
  call({ name, input, workspaceId, key }: ToolCall): { message: string } {
    const [, base = '', language = ''] = /^(\w+)_([a-z]{2})$/.exec(name) ?? []
    const words = LANGUAGES[language]
    const tool = Object.hasOwn(this.#tools, base) ? this.#tools[base as DemoTool] : undefined
    if (words === undefined || tool === undefined) throw new Error(`There is no tool "${name}"`)
    const diary = this.#diaryOf(workspaceId)
    const known = key === undefined ? undefined : diary.answered(key)
    if (known !== undefined) return { message: known }
    const asked: Asked = { input: input as unknown as Input, words, language, diary }
    const [said, values = {}] = this.#isOver(asked) ? (['past'] as const) : tool(asked)
    const filled = words.says[said].replace(/\{(\w+)\}/g, (_, value: string) => String(values[value] ?? ''))
    const message = filled.charAt(0).toLocaleUpperCase(language) + filled.slice(1)
    if (key !== undefined) diary.keepAnswer(key, message)
    return { message }
  }

  readonly #tools: Readonly<Record<DemoTool, (asked: Asked) => Said>> = {
    free_rooms: ({ input: { date }, diary, language }) => [
      'rooms',
      {
        date: dayIn(date, language),
        single: freeRooms(diary, 'single', date),
        double: freeRooms(diary, 'double', date),
      },
    ],
    book_room: ({ input: { date, room, nights, name }, words, language, diary }) => {
      const kind = room === words.rooms.single ? 'single' : 'double'
      const days = Array.from({ length: Math.min(nights, MAX_NIGHTS) }, (_, i) => dayAfter(date, i))
      const full = days.find((day) => freeRooms(diary, kind, day) < 1)
      if (full !== undefined) return ['no_room', { date: dayIn(full, language), room }]
      for (const day of days) diary.book(`${kind} ${day}`)
      return ['room', { date: dayIn(date, language), room, nights, name }]
    },
    free_times: (asked) => {
      const { date } = asked.input
      if (isClosed(date)) return ['closed', { date: dayIn(date, asked.language) }]
      return timesSaid(asked, 'times')
    },
    book_appointment: (asked) => {
      const { input, language, diary } = asked
      const { date, time, service, name } = input
      if (isClosed(date)) return ['closed', { date: dayIn(date, language) }]
      const hour = Number(time.slice(0, 2))
      if (!isFree(diary, date, hour)) return timesSaid(asked, 'taken')
      diary.book(slotOf(date, hour))
      return ['appointment', { date: dayIn(date, language), time: timeIn(hour, language), service, name }]
    },
    check_line: ({ input: { customer_number } }) => [spread(customer_number, 3) === 0 ? 'line_fault' : 'line_works'],
    send_technician: ({ input: { date }, language, diary }) => {
      const day = dayIn(date, language)
      if ([SUNDAY, SATURDAY].includes(weekday(date))) return ['closed', { date: day }]
      diary.book(`technician ${date}`)
      return ['technician', { date: day }]
    },
    save_answers: ({ diary }) => {
      diary.book('answers')
      return ['answers']
    },
  }

  #isOver({ input: { date } }: Asked): boolean {
    return date !== undefined && Date.parse(date) + DAY_MS <= this.#nowMs()
  }

  #diaryOf(workspaceId: string): Diary {
    const diary = this.#diaries.get(workspaceId) ?? new Diary()
    this.#diaries.delete(workspaceId)
    this.#diaries.set(workspaceId, diary)
    const [oldest] = this.#diaries.keys()
    if (this.#diaries.size > MAX_WORKSPACES && oldest !== undefined) this.#diaries.delete(oldest)
    return diary
  }
}

function timesSaid({ input: { date }, language, diary }: Asked, said: 'times' | 'taken'): Said {
  const hours = Array.from({ length: LAST_HOUR - FIRST_HOUR + 1 }, (_, i) => FIRST_HOUR + i)
  const free = hours.filter((hour) => isFree(diary, date, hour)).slice(0, MAX_TIMES)
  if (free.length === 0) return ['no_time', { date: dayIn(date, language) }]
  return [said, { date: dayIn(date, language), times: free.map((hour) => timeIn(hour, language)).join(', ') }]
}

/** As many as a day began with, less what was booked. */
const freeRooms = (diary: Diary, kind: 'single' | 'double', date: string): number =>
  Math.max(0, 1 + spread(`${kind} ${date}`, 4) - diary.booked(`${kind} ${date}`))

const slotOf = (date: string, hour: number): string => `chair ${date} ${hour}`
/** Some hours are taken from the start, so that there is something to negotiate. */
const isFree = (diary: Diary, date: string, hour: number): boolean =>
  hour >= FIRST_HOUR &&
  hour <= LAST_HOUR &&
  spread(slotOf(date, hour), 4) !== 0 &&
  diary.booked(slotOf(date, hour)) === 0

const weekday = (date: string): number => new Date(date).getUTCDay()
const isClosed = (date: string): boolean => [SUNDAY, MONDAY].includes(weekday(date))
const dayAfter = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10)

const dayIn = (date: string, language: string): string =>
  new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long', timeZone: 'UTC' }).format(
    new Date(date),
  )
const timeIn = (hour: number, language: string): string =>
  new Intl.DateTimeFormat(language, { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' }).format(hour * 3_600_000)

/** The same number below `most` for the same text (FNV-1a). */
function spread(text: string, most: number): number {
  let hash = 0x81_1c_9d_c5
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01_00_01_93)
  return (hash >>> 0) % most
}
