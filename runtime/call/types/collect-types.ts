/** What kinds of values an agent collects from callers. */
export const COLLECT_TYPES = [
  'name',
  'email',
  'phone',
  'date',
  'time',
  'address',
  'number',
  'digits',
  'choice',
  'free',
] as const
export type CollectType = (typeof COLLECT_TYPES)[number]
