import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { GUARD_RULES } from '../call/types/guardrails.ts'
import { CONVERSATION_DISPOSITIONS } from '../call/types/outcome.ts'
import { stringEnum } from '../lib/string-enum.ts'

/**
 * A test of an agent: one schema, from which come the type, the check of files and of the API, the documentation and the JSON Schema for
 * editors (`patchbay test --schema`).
 */

const closed = { additionalProperties: false } as const
const Ms = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 600_000, description: `${description} Milliseconds.` })
const Text = (description: string) => Type.String({ minLength: 1, maxLength: 2_000, description })
const Pattern = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 500,
    description: `${description} Words that occur in it, whatever their case, or a regular expression between slashes: \`/mon(day)?/i\`.`,
  })
const Arguments = (description: string) => Type.Record(Type.String({ maxLength: 200 }), Type.Unknown(), { description })
const ToolName = Type.String({ minLength: 1, maxLength: 200 })

const Line = Type.Object(
  {
    say: Type.Optional(Text('What the caller says.')),
    when: Type.Optional(
      Pattern('Said once, as soon as the agent’s last words hold this; before the next line without it.'),
    ),
    wait: Type.Optional(Ms('How long the caller thinks before it; default 300.')),
    keys: Type.Optional(Type.String({ pattern: '^[0-9*#A-D]{1,32}$', description: 'Keys pressed instead of words.' })),
    barge_in_at: Type.Optional(Ms('Cuts in so long after the agent began to speak.')),
    silence: Type.Optional(Ms('Says nothing for so long.')),
    hang_up: Type.Optional(Type.Literal(true, { description: 'Hangs up.' })),
    recorded_turn: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100_000,
        description:
          'In sound, `say` is heard as in this turn of `recorded_call`, by its place in the transcript, from 0.',
      }),
    ),
  },
  { ...closed, minProperties: 1 },
)

/** How a test is run: by words in simulated time, or in sound and real time, over a line of this process or a SIP call over loopback. */
export const TEST_CHANNELS = ['text', 'audio', 'sip'] as const
export type TestChannel = (typeof TEST_CHANNELS)[number]

const PhoneLine = Type.Object(
  {
    codec: Type.Optional(
      Type.Enum(['pcmu', 'pcma', 'opus'], {
        description: 'Default: `pcmu` over SIP, linear samples at 16 kHz otherwise.',
      }),
    ),
    loss: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 0.5,
        description: 'Share of packets that never arrive, each way; 0.02 is 2 %.',
      }),
    ),
    jitter_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 500, description: 'Each packet is late by up to so many milliseconds.' }),
    ),
    noise_db: Type.Optional(
      Type.Number({ minimum: -80, maximum: 0, description: 'Noise around the caller, against the caller’s voice.' }),
    ),
    echo_db: Type.Optional(
      Type.Number({
        minimum: -80,
        maximum: 0,
        description: 'How much of what the caller hears comes back into the microphone, against how it was sent.',
      }),
    ),
  },
  { ...closed, description: 'The line of a caller in sound.' },
)

const Caller = Type.Object(
  {
    say: Type.Optional(
      Type.Array(Type.Union([Text('A line of the caller.'), Line]), {
        minItems: 1,
        maxItems: 200,
        description: 'A scripted caller: the lines in order. After the last one the caller hangs up.',
      }),
    ),
    persona: Type.Optional(Text('A simulated caller: who it is.')),
    goal: Type.Optional(Text('What the simulated caller wants.')),
    knows: Type.Optional(Arguments('What the simulated caller knows and tells when asked.')),
    model: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^(offline|[a-z0-9_-]+/.+)$',
        description: 'The simulated caller’s language model as `provider/model`; default: the agent’s.',
      }),
    ),
    language: Type.Optional(
      Type.String({ maxLength: 35, description: 'Language tag of what the caller speaks; default: the agent’s.' }),
    ),
    channel: Type.Optional(
      Type.Enum([...TEST_CHANNELS], {
        description:
          '`text` (default): words in simulated time. `audio`: the caller speaks and listens in real time. `sip`: the same by a SIP call over loopback.',
      }),
    ),
    voice: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^[a-z0-9_-]+/.+$',
        description: 'Of a caller in sound, as `provider/voice`; default: the voice of this machine (espeak-ng).',
      }),
    ),
    line: Type.Optional(PhoneLine),
    recorded_call: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'The call with a recording that lines with `recorded_turn` are from.',
      }),
    ),
  },
  closed,
)

const Mock = Type.Object(
  {
    when: Type.Optional(Arguments('Only for calls with these arguments; texts may be `/patterns/`.')),
    returns: Type.Optional(Type.Unknown({ description: 'What the tool answers.' })),
    fails: Type.Optional(
      Type.Union([Type.Integer({ minimum: 400, maximum: 599 }), Text('Why.')], {
        description: 'The tool fails: an HTTP status or a reason.',
      }),
    ),
    after_ms: Type.Optional(Ms('How long it takes.')),
    state: Type.Optional(
      Type.Object(
        {
          expect: Type.Optional(Arguments('Only while the test’s state holds these values.')),
          set: Type.Optional(Arguments('What the call changes in the test’s state.')),
        },
        closed,
      ),
    ),
  },
  closed,
)

const Bounds = (description: string) =>
  Type.Object(
    { min: Type.Optional(Type.Number({ minimum: 0 })), max: Type.Optional(Type.Number({ minimum: 0 })) },
    { ...closed, minProperties: 1, description },
  )

/** Kinds of facts: the key that names one, and what may stand beside it. */
const Fact = Type.Object(
  {
    called: Type.Optional(ToolName),
    with: Type.Optional(Arguments('Of `called`: the arguments hold these; texts may be `/patterns/`.')),
    once: Type.Optional(Type.Boolean({ description: 'Exactly once.' })),
    times: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000, description: 'So many times; 0: never.' })),
    after_heard: Type.Optional(Pattern('Of `called`: the caller had heard this before.')),
    never_called: Type.Optional(ToolName),
    handed_off: Type.Optional(
      Text('The caller was handed to this agent, by its name or id; `webhook`: to one that a webhook names.'),
    ),
    collected: Type.Optional(
      Type.String({ minLength: 1, maxLength: 40, description: 'A value of the agent’s `collect`, by its name.' }),
    ),
    value: Type.Optional(Text('Of `collected`: the value, or a `/pattern/`.')),
    guarded: Type.Optional(stringEnum(...GUARD_RULES)),
    procedure: Type.Optional(
      Type.String({ minLength: 1, maxLength: 40, description: 'The agent began this procedure.' }),
    ),
    to_end: Type.Optional(Type.Literal(true, { description: 'Of `procedure`: its fixed steps were all made.' })),
    heard: Type.Optional(Pattern('The caller heard it from the agent.')),
    never_heard: Type.Optional(Pattern('The caller never heard it from the agent.')),
    disposition: Type.Optional(stringEnum(...CONVERSATION_DISPOSITIONS)),
    ended_by: Type.Optional(stringEnum('caller', 'agent', 'idle', 'max_duration', 'transfer', 'voicemail', 'error')),
    latency_p95_ms: Type.Optional(Bounds('From the end of the caller’s words to the first sound of the answer.')),
    silence_ms: Type.Optional(Bounds('The longest time the caller waited and heard nothing.')),
    duration_s: Type.Optional(Bounds('Length of the conversation.')),
    turns: Type.Optional(Bounds('How often the caller spoke.')),
    interruptions: Type.Optional(Bounds('How often the agent’s words were cut off.')),
    cost_usd: Type.Optional(Bounds('What the conversation would cost as a call.')),
  },
  { ...closed, minProperties: 1 },
)

export const AgentTest = Type.Object(
  {
    $schema: Type.Optional(Type.String({ maxLength: 500 })),
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: '\\S',
      description: 'What the agent does, as a sentence.',
    }),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { maxItems: 20 })),
    caller: Caller,
    clock: Type.Optional(
      Type.String({
        maxLength: 80,
        description: 'What `{{now}}` says: `2026-03-29T01:30:00 America/Los_Angeles`; without a zone: the agent’s.',
      }),
    ),
    variables: Type.Optional(Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 4_000 }))),
    state: Type.Optional(Arguments('What the mocks’ state is at the beginning.')),
    tools: Type.Optional(
      Type.Record(
        Type.String({ maxLength: 200 }),
        Type.Union([Mock, Type.Array(Mock, { minItems: 1, maxItems: 50 })]),
        {
          description:
            'What stands in for the agent’s tools: none is ever called for real. The first mock that fits answers.',
        },
      ),
    ),
    expect: Type.Optional(Type.Array(Fact, { maxItems: 100, description: 'All must hold.' })),
    judge: Type.Optional(
      Type.Array(Text('A sentence about the conversation that a language model judges.'), { maxItems: 50 }),
    ),
    judge_model: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^[a-z0-9_-]+/.+$',
        description: 'As `provider/model`; default: the agent’s.',
      }),
    ),
    times: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'How often it runs; default 1.' })),
    timeout_s: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 600, description: 'A run that takes longer has failed; default 120.' }),
    ),
  },
  closed,
)

export type AgentTest = Static<typeof AgentTest>
export type TestLine = Static<typeof Line>
export type PhoneLine = Static<typeof PhoneLine>
export type ToolMock = Static<typeof Mock>
export type ExpectedFact = Static<typeof Fact>
export type Bounds = { min?: number; max?: number }

export const agentTestCheck = Compile(AgentTest)

/** The keys that name a fact; the others qualify some of them. */
export const FACT_KINDS = [
  'called',
  'never_called',
  'handed_off',
  'collected',
  'guarded',
  'procedure',
  'heard',
  'never_heard',
  'disposition',
  'ended_by',
  'latency_p95_ms',
  'silence_ms',
  'duration_s',
  'turns',
  'interruptions',
  'cost_usd',
] as const satisfies readonly (keyof ExpectedFact)[]
export type FactKind = (typeof FACT_KINDS)[number]
const COUNTED = ['called', 'handed_off', 'collected', 'guarded', 'procedure'] as const satisfies readonly FactKind[]
/** What each of the other keys may stand beside. */
export const QUALIFIES: Readonly<Record<Exclude<keyof ExpectedFact, FactKind>, readonly FactKind[]>> = {
  with: ['called'],
  after_heard: ['called'],
  value: ['collected'],
  to_end: ['procedure'],
  once: COUNTED,
  times: COUNTED,
}
