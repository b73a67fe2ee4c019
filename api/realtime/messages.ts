import { type Static, type TObject, type TProperties, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { beyondBounds, JSON_BOUNDS } from '../../runtime/lib/json-bounds.ts'
import { cutText, shortText, UNSTORABLE, unstorableText } from '../../runtime/lib/text.ts'
import { openEnum, PROTOCOL_VERSION, SESSION_ENDS } from './closing.ts'
import { MAX_SDP_CHARACTERS } from './webrtc/sdp.ts'

/**
 * What client and server say to each other in a realtime session, each message said once: as a schema, from which come its
 * type, the check of what clients send, and the document /asyncapi.json. Audio is binary, these are text messages of JSON.
 */

const message = <const T extends string, P extends TProperties>(type: T, description: string, fields: P) =>
  Type.Object({ type: Type.Literal(type), ...fields }, { description })

const id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const resumeToken = Type.String({
  description: 'Opens the session once more, once: `/realtime?resume=…`, within 20 s of a lost connection.',
})

export const SERVER_MESSAGES = {
  'session.started': message('session.started', 'The agent is there. From now on audio flows.', {
    call_log_id: Type.String({ description: 'The call’s log: GET /calls/{call_log_id}.' }),
    audio: Type.Object({
      encoding: Type.Union([Type.Literal('pcm_s16le'), Type.Literal('opus')], {
        description:
          '`pcm_s16le`: 16-bit little-endian samples, one channel, both ways. `opus`: over the peer connection.',
      }),
      sample_rate: Type.Integer({ description: 'Samples a second.' }),
    }),
    media: Type.Optional(
      Type.Union([Type.Literal('websocket'), Type.Literal('webrtc')], {
        description: 'As asked for; absent where nothing was.',
      }),
    ),
    resume_token: Type.Optional(resumeToken),
    resume_within_s: Type.Optional(
      Type.Integer({ description: 'So many seconds after a lost connection the token opens the session once more.' }),
    ),
    protocol: Type.Literal(PROTOCOL_VERSION, { description: 'The version of this protocol: that of `patchbay.v1`.' }),
  }),
  'session.resumed': message(
    'session.resumed',
    'The session goes on over this connection; the earlier one is closed.',
    {
      resume_token: resumeToken,
    },
  ),
  'session.moved': message(
    'session.moved',
    'The session lives on another node: connect to `url`. The token is still good; this connection is closed.',
    { url: Type.String() },
  ),
  'webrtc.offer': message(
    'webrtc.offer',
    'Answer it with `webrtc.answer`, within 10 s where the session has not begun. Another number in its `o=` line than before: with a new peer connection.',
    { sdp: Type.String() },
  ),
  'agent.state': message('agent.state', 'What the agent does.', {
    state: Type.Union([Type.Literal('listening'), Type.Literal('thinking'), Type.Literal('speaking')]),
  }),
  transcript: message(
    'transcript',
    'Words of a side. Until `final` they may change; those of the agent are the ones heard.',
    {
      role: Type.Union([Type.Literal('user'), Type.Literal('assistant')]),
      text: Type.String(),
      final: Type.Boolean(),
      start_ms: Type.Integer({ description: 'From the answer of the call.' }),
      end_ms: Type.Integer(),
    },
  ),
  'audio.clear': message(
    'audio.clear',
    'The caller cut in: drop the audio that is not played yet, marks included.',
    {},
  ),
  'audio.mark': message('audio.mark', 'When the audio sent so far is played, answer with `audio.played`.', { id }),
  error: message('error', 'Something of yours was not taken; the session goes on.', {
    code: Type.String(),
    message: Type.String(),
  }),
  'tool.call': message('tool.call', 'The agent calls a function of the page; answer with `tool.result`.', {
    call_id: Type.String(),
    name: Type.String(),
    arguments: Type.Record(Type.String(), Type.Unknown()),
  }),
  pong: message('pong', 'Answers `ping`.', {}),
  'session.ended': message('session.ended', 'The last message: why the session is over.', {
    reason: openEnum(Object.keys(SESSION_ENDS), 'The reason of the close frame, too. There may be more of them later.'),
  }),
} as const satisfies Record<string, TObject>

export const CLIENT_MESSAGES = {
  text: message('text', 'A typed turn.', { text: Type.String({ minLength: 1, maxLength: 4000 }) }),
  dtmf: message('dtmf', 'A key of the telephone.', { digit: Type.String({ pattern: '^[0-9A-D*#]$' }) }),
  'webrtc.answer': message('webrtc.answer', 'The answer to the last `webrtc.offer`.', {
    sdp: Type.String({ maxLength: MAX_SDP_CHARACTERS }),
    says_connected: Type.Optional(
      Type.Boolean({
        description:
          'True: `webrtc.connected` will follow, and the agent waits for it. Else it begins as soon as the server can send, which may be before you hear it.',
      }),
    ),
  }),
  'webrtc.connected': message(
    'webrtc.connected',
    'The peer connection is connected. The agent begins with this where the answer announced it, or with the first packet of the microphone.',
    {},
  ),
  'webrtc.restart': message(
    'webrtc.restart',
    'Nothing is heard any more: the server offers new addresses. Once a second at most.',
    {},
  ),
  'audio.played': message('audio.played', 'The audio before the mark is played.', { id }),
  'tool.result': message('tool.result', 'What the function returned, or why it failed: one of both.', {
    call_id: Type.String({ maxLength: 300 }),
    result: Type.Optional(Type.Unknown({ description: 'JSON; the agent reads up to 8,000 characters of it.' })),
    error: Type.Optional(Type.String({ maxLength: 2_000 })),
  }),
  ping: message('ping', 'Asks for `pong`: is the connection alive?', {}),
  end: message('end', 'Hangs up.', {}),
} as const satisfies Record<string, TObject>

type OneOf<M extends Record<string, TObject>> = { [K in keyof M]: Static<M[K]> }[keyof M]

export type ServerMessage = OneOf<typeof SERVER_MESSAGES>
export type ClientMessage = OneOf<typeof CLIENT_MESSAGES>

const validators = Object.fromEntries(
  Object.entries(CLIENT_MESSAGES).map(([type, schema]) => [type, Compile(schema as TObject)]),
)

/** The error of a message, as sent to the client. */
interface MessageFault {
  code: string
  message: string
}

/** Reads a text message of a client. Never throws. */
export function readClientMessage(json: string): ClientMessage | MessageFault {
  const beyond = beyondBounds(json, JSON_BOUNDS)
  if (beyond !== undefined) {
    const limit = beyond === 'depth' ? `${JSON_BOUNDS.depth} levels` : `${JSON_BOUNDS.parts} fields, arrays and objects`
    return { code: 'malformed_message', message: `The message has more than ${limit}` }
  }
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return { code: 'malformed_message', message: 'The message is not JSON' }
  }
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  if (typeof type !== 'string') return { code: 'malformed_message', message: 'The message has no "type"' }
  if (!Object.hasOwn(validators, type)) {
    const known = Object.keys(validators).join(', ')
    return { code: 'unknown_message', message: `Unknown message type "${cutText(type, 50)}"; known are ${known}` }
  }
  if (!validators[type]!.Check(value)) {
    return { code: 'invalid_message', message: `The fields of the "${type}" message are missing or wrong` }
  }
  const path = json.includes('\\u') ? unstorableText(value) : undefined
  if (path !== undefined) {
    return {
      code: 'invalid_message',
      message: `"${shortText(path.join('.'), 100)}" of the "${type}" message ${UNSTORABLE}`,
    }
  }
  return value as ClientMessage
}
