import { type TObject, type TSchema, Type } from 'typebox'
import { buildInfo } from '../../runtime/process/build-info.ts'
import { CallEventBody } from '../calls/events-schema.ts'
import {
  closeCodes,
  LISTEN_CLOSES,
  PROTOCOL_VERSION,
  RIGHT_ENDED,
  SESSION_CLOSES,
  SESSION_ENDS,
  SUBPROTOCOL,
} from '../realtime/closing.ts'
import { CLIENT_MESSAGES, SERVER_MESSAGES } from '../realtime/messages.ts'
import { type AnyRoute, defineRoute, Reply } from '../route.ts'
import { SUPERVISOR_MESSAGE, SUPERVISOR_SIGNAL, TO_SUPERVISOR } from '../supervision/messages.ts'

type Json = Record<string, unknown>

const audio = (name: string, description: string) => ({
  name,
  title: name,
  summary: description,
  contentType: 'application/octet-stream',
  payload: { type: 'string', contentEncoding: 'binary', description },
})

/** Component names may hold no dot. */
const nameOf = (type: string): string => type.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase())

function messagesOf(definitions: Readonly<Record<string, TSchema>>, before = ''): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(definitions).map(([type, schema]) => {
      const { description, ...payload } = JSON.parse(JSON.stringify(schema)) as { description?: string }
      const message = { name: type, title: type, summary: description, contentType: 'application/json', payload }
      const name = nameOf(type)
      return [before === '' ? name : `${before}${name.charAt(0).toUpperCase()}${name.slice(1)}`, message]
    }),
  )
}

/** The members of a union by the constant of their `type`. */
const byType = (members: readonly TObject[]): Record<string, TObject> =>
  Object.fromEntries(members.map((member) => [(member.properties.type as { const?: string }).const ?? '', member]))

interface Protocol {
  channel: string
  channelFields: Json
  fromServer: Record<string, Json>
  fromClient: Record<string, Json>
  /** What the operations are called. */
  tell: string
  hear: string
}

const REALTIME: Protocol = {
  channel: 'realtime',
  channelFields: {
    address: '/realtime',
    title: 'A session',
    description:
      'GET /calls/generate-token or POST /public/agents/{agent_id}/session gives its address. `token` opens it once; with `media=websocket` or `webrtc` it outlives its connection, and `resume` opens it once more. The server pings; a client that is silent for 12 seconds is gone.',
    'x-close-codes': closeCodes(SESSION_ENDS, SESSION_CLOSES),
    bindings: webSocket({
      token: { type: 'string', description: 'Of a session that begins.' },
      media: { type: 'string', enum: ['websocket', 'webrtc'], description: 'How audio travels.' },
      resume: { type: 'string', description: 'The `resume_token` told last; in place of `token`.' },
    }),
  },
  fromServer: {
    ...messagesOf(SERVER_MESSAGES),
    agentAudio: audio('agentAudio', 'Binary: what the agent says, from `session.started` on.'),
  },
  fromClient: {
    ...messagesOf(CLIENT_MESSAGES),
    callerAudio: audio('callerAudio', 'Binary: what the caller says, up to 100 ms a message, 20 ms as a rule.'),
  },
  tell: 'tellClient',
  hear: 'hearClient',
}

const LISTEN: Protocol = {
  channel: 'listen',
  channelFields: {
    address: '/listen',
    title: 'Listening in on a call',
    description: 'POST /calls/{call_log_id}/listen gives its address, which opens it once, within a minute.',
    'x-close-codes': closeCodes(LISTEN_CLOSES, { '*': RIGHT_ENDED }),
    bindings: webSocket({
      token: { type: 'string', description: 'Of POST /calls/{call_log_id}/listen.' },
      media: { type: 'string', enum: ['websocket', 'webrtc'], description: 'How sound travels; default `websocket`.' },
    }),
  },
  fromServer: {
    ...messagesOf(TO_SUPERVISOR, 'listen'),
    listenEvent: {
      ...{ name: 'event', title: 'event', contentType: 'application/json' },
      summary: 'An event of the call as GET /calls/{call_log_id}/events shows them.',
      payload: {
        type: 'object',
        required: ['type', 'event'],
        properties: { type: { const: 'event' }, event: JSON.parse(JSON.stringify(CallEventBody)) },
      },
    },
    callSound: audio('callSound', 'Binary: 16-bit samples in stereo, the caller left and the agent right.'),
  },
  fromClient: {
    ...messagesOf(byType([...SUPERVISOR_MESSAGE.anyOf, ...SUPERVISOR_SIGNAL.anyOf]), 'supervisor'),
    supervisorSound: audio('supervisorSound', 'Binary: what the supervisor says after `take_over`, one channel.'),
  },
  tell: 'tellSupervisor',
  hear: 'hearSupervisor',
}

function webSocket(query: Json) {
  return {
    ws: {
      bindingVersion: '0.1.0',
      method: 'GET',
      query: { type: 'object', properties: query },
      headers: {
        type: 'object',
        properties: {
          'Sec-WebSocket-Protocol': { type: 'string', enum: [SUBPROTOCOL], description: 'May be left out.' },
        },
      },
    },
  }
}

function channelOf({ channelFields, fromServer, fromClient }: Protocol): Json {
  const names = Object.keys({ ...fromServer, ...fromClient })
  return {
    ...channelFields,
    'x-protocol-version': PROTOCOL_VERSION,
    servers: [{ $ref: '#/servers/this' }],
    messages: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
  }
}

function operationsOf({ channel, fromServer, fromClient, tell, hear }: Protocol): Json {
  const operation = (action: string, title: string, messages: Record<string, Json>) => ({
    ...{ action, title, channel: { $ref: `#/channels/${channel}` } },
    messages: Object.keys(messages).map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` })),
  })
  return {
    [tell]: operation('send', 'What the server says', fromServer),
    [hear]: operation('receive', 'What the client says', fromClient),
  }
}

/** The protocols over WebSockets as AsyncAPI 3.0, made of the definitions that check the messages. */
export function asyncApiDocument(publicUrl: string, version: string): Json {
  const { host, protocol } = new URL(publicUrl)
  const protocols = [REALTIME, LISTEN]
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Patchbay over WebSockets',
      version,
      description:
        'A web voice session, and listening in on a call. docs/realtime.md tells how they go. Operations are the server’s: a client receives what the server sends. `x-close-codes` of a channel has the codes and reasons of close frames, and what a client does next.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: { this: { host, protocol: protocol === 'https:' ? 'wss' : 'ws', description: 'This installation' } },
    channels: Object.fromEntries(protocols.map((one) => [one.channel, channelOf(one)])),
    operations: Object.assign({}, ...protocols.map(operationsOf)) as Json,
    components: {
      messages: Object.assign({}, ...protocols.map(({ fromServer, fromClient }) => ({ ...fromServer, ...fromClient }))),
    },
  }
}

let document: string | undefined

export const asyncApiRoute: AnyRoute = defineRoute({
  method: 'GET',
  path: '/asyncapi.json',
  auth: 'none',
  role: 'none',
  success: { status: 200, schema: Type.Object({ asyncapi: Type.String() }) },
  tag: 'System',
  summary: 'The protocols over WebSockets as an AsyncAPI 3.0 document',
  examples: { success: { asyncapi: '3.0.0' } },
  handler: (_, { config }) => {
    document ??= JSON.stringify(asyncApiDocument(config.publicUrl, buildInfo().version))
    return new Reply({ body: document, headers: [['content-type', 'application/json; charset=utf-8']] })
  },
})
