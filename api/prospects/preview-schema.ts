import { type Static, Type } from 'typebox'
import { OWN_COLUMNS } from '../../store/prospects/prospect-columns.ts'
import { Nullable } from '../schema.ts'

const Count = Type.Integer({ minimum: 0 })

export const UploadPreviewBody = Type.Object({
  filename: Type.String(),
  columns: Type.Array(
    Type.Object({
      name: Type.String(),
      field: Nullable(Type.Enum([...OWN_COLUMNS], { description: "The column of the prospect's own that it is." })),
      variable: Nullable(Type.String({ description: 'The variable it becomes. Neither: it is left out.' })),
      samples: Type.Array(Type.String(), { description: 'Its cells in the first rows.' }),
    }),
  ),
  left_out: Type.Array(Type.String(), {
    description:
      "Names in the texts of the campaign's agent that no column gives a value: nothing is said in their place.",
  }),
  has_phone: Type.Boolean({ description: 'False: no column is `primary_phone`; map one. No row is judged then.' }),
  rows: Type.Object({
    total: Count,
    judged: Type.Integer({ minimum: 0, description: 'The first 50,000 of them. The counts below are of these.' }),
    loaded: Count,
    duplicates: Count,
    invalid: Count,
    do_not_call: Count,
  }),
  held: Type.Object(
    { unknown_zone: Count, state: Count, consent: Count },
    { description: 'Of those loaded: who is not called as things stand, and why.' },
  ),
  skipped: Type.Array(
    Type.Object({
      line: Type.Integer({ description: 'In the file; the header is line 1.' }),
      code: Type.Enum(['invalid_number', 'invalid_consent', 'invalid_metadata', 'duplicate', 'do_not_call']),
      reason: Type.String(),
      primary_phone: Type.String({ description: 'As the file has it, where it is no number.' }),
    }),
    { description: 'The first 100 rows that would be left out.' },
  ),
})

export const uploadPreviewExample: Static<typeof UploadPreviewBody> = {
  filename: 'leads.csv',
  columns: [
    { name: 'Mobile', field: 'primary_phone', variable: null, samples: ['+14155550199', '12'] },
    { name: 'plan', field: null, variable: 'plan', samples: ['gold', 'silver'] },
  ],
  left_out: [],
  has_phone: true,
  rows: { total: 2, judged: 2, loaded: 1, duplicates: 0, invalid: 1, do_not_call: 0 },
  held: { unknown_zone: 0, state: 0, consent: 0 },
  skipped: [{ line: 3, code: 'invalid_number', reason: 'Invalid phone number format', primary_phone: '12' }],
}
