import { fold, foldedWords } from '../words.ts'

/** What is asked for by a parameter of a tool: see `kindOf`. */
type ParameterKind =
  | 'choice'
  | 'yes_no'
  | 'number'
  | 'email'
  | 'phone'
  | 'date'
  | 'day'
  | 'time'
  | 'moment'
  | 'name'
  | 'id'
  | 'words'
  | 'place'
  | 'free'

export interface Parameter {
  name: string
  kind: ParameterKind
  required: boolean
  isList: boolean
  isWhole: boolean
  /** How it is called aloud. */
  label: string
  /** Its name as words, and its description: what is said beside its value. */
  words: readonly string[]
  choices: readonly (string | number)[]
  minimum: number
  maximum: number
  maxLength: number
}

type Schema = Readonly<Record<string, unknown>>

/** Parameters of a tool that are looked at. */
const MAX_PARAMETERS = 20
const MAX_CHOICES = 50
const MAX_LABEL_WORDS = 6

const KINDS: readonly (readonly [ParameterKind, RegExp])[] = [
  ['email', /\b(?:e ?mail|mail|correo|courriel)\b/],
  ['phone', /\b(?:phone|telephone|telefon|telefono|telefone|mobile|cell|handy|msisdn)\b/],
  ['moment', /\b(?:datetime|timestamp|starts? at|starts? time|when)\b/],
  ['date', /\b(?:date|datum|fecha|data|birthday)\b/],
  ['day', /\b(?:day|weekday|tag|wochentag|dia|jour|giorno)\b/],
  ['time', /\b(?:time|uhrzeit|hora|heure|ora|orario|hour)\b/],
  [
    'place',
    /\b(?:city|location|place|town|destination|address|country|ort|stadt|adresse|ciudad|ville|lieu|citta|cidade|local)\b/,
  ],
  [
    'words',
    /\b(?:query|question|search|topic|text|message|summary|reason|notes?|issue|problem|comment|request|anfrage|frage|grund|nachricht|anliegen|motivo|mensaje|message|messaggio|mensagem)\b/,
  ],
  ['id', /\b(?:id|number|no|nr|code|reference|ref|nummer|numero|pin|zip|plz|keys|iban|account)\b/],
  [
    'name',
    /^(?:(?:first|last|full|given|family|customer|caller|guest|contact|patient|person|client|user) )?(?:name|surname|nombre|nome|nom|vorname|nachname|apellido|cognome|sobrenome|guest|customer|patient)$/,
  ],
]

/** The parameters of a tool; undefined where one it needs can't be said: the tool is not offered then. */
export function parametersOf(schema: Schema): Parameter[] | undefined {
  const properties = objectOf(schema.properties)
  const required = new Set(Array.isArray(schema.required) ? schema.required.map(String) : [])
  const parameters: Parameter[] = []
  for (const [name, property] of Object.entries(properties).slice(0, MAX_PARAMETERS)) {
    const parameter = parameterOf(name, objectOf(property), required.has(name))
    if (parameter !== undefined) parameters.push(parameter)
    else if (required.has(name)) return undefined
  }
  const known = new Set(parameters.map(({ name }) => name))
  return [...required].every((name) => known.has(name)) ? parameters : undefined
}

function parameterOf(name: string, schema: Schema, required: boolean): Parameter | undefined {
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type
  const isList = type === 'array'
  const of = isList ? objectOf(schema.items) : schema
  const ofType = Array.isArray(of.type) ? of.type.find((one) => one !== 'null') : of.type
  const listed = Array.isArray(of.enum) ? of.enum : 'const' in of ? [of.const] : []
  const choices = listed
    .filter((one): one is string | number => typeof one === 'string' || typeof one === 'number')
    .slice(0, MAX_CHOICES)
  const kind = choices.length > 0 ? 'choice' : kindOf(name, ofType, of)
  if (kind === undefined) return undefined
  const spoken = spokenName(name)
  const description = typeof schema.description === 'string' ? schema.description : ''
  return {
    name,
    kind,
    required,
    isList,
    isWhole: ofType === 'integer',
    label: labelOf(spoken, description),
    words: foldedWords(`${spoken} ${description.slice(0, 100)}`).filter((word) => word.length > 1),
    choices,
    minimum: finite(of.minimum, Number.NEGATIVE_INFINITY),
    maximum: finite(of.maximum, Number.POSITIVE_INFINITY),
    maxLength: finite(of.maxLength, 1_000),
  }
}

function kindOf(name: string, type: unknown, { format }: Schema): ParameterKind | undefined {
  if (type === 'boolean') return 'yes_no'
  if (type === 'integer' || type === 'number') return 'number'
  if (type !== undefined && type !== 'string') return undefined
  if (format === 'email') return 'email'
  if (format === 'phone') return 'phone'
  if (format === 'date') return 'date'
  if (format === 'time') return 'time'
  if (format === 'date-time') return 'moment'
  const spoken = fold(spokenName(name))
  return KINDS.find(([, words]) => words.test(spoken))?.[0] ?? 'free'
}

/** `orderId`, `order_id` → "order id". */
export function spokenName(name: string): string {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_\-.]+/g, ' ')
    .trim()
    .toLowerCase()
}

/** The description where it is short enough to be said, else the name. */
function labelOf(spoken: string, description: string): string {
  const [sentence = ''] = description.trim().split(/[.;:(\n]/)
  const said = sentence.trim()
  return said !== '' && said.split(/\s+/).length <= MAX_LABEL_WORDS ? said : spoken
}

const finite = (value: unknown, fallback: number): number => (typeof value === 'number' ? value : fallback)
const objectOf = (value: unknown): Schema => (typeof value === 'object' && value !== null ? (value as Schema) : {})
