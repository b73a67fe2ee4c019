import { type TObject, Type } from 'typebox'
import { buildInfo } from '../../runtime/process/build-info.ts'
import { CLIENT_MESSAGES, SERVER_MESSAGES } from '../realtime/messages.ts'
import { type AnyRoute, defineRoute, Reply } from '../route.ts'

const AUDIO_IN = 'callerAudio'
const AUDIO_OUT = 'agentAudio'

const audio = (title: string, description: string) => ({
  name: title,
  title,
  summary: description,
  contentType: 'application/octet-stream',
  payload: { type: 'string', contentEncoding: 'binary', description },
})

/** Component names may hold no dot. */
const nameOf = (type: string): string => type.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase())

function messagesOf(definitions: Readonly<Record<string, TObject>>) {
  return Object.entries(definitions).map(([type, schema]) => {
    const { description, ...payload } = JSON.parse(JSON.stringify(schema)) as { description?: string }
    return [
      nameOf(type),
      { name: type, title: type, summary: description, contentType: 'application/json', payload },
    ] as const
  })
}

/** The realtime protocol as AsyncAPI 3.0, made of the definitions that check the messages. */
function asyncApiDocument(publicUrl: string, version: string) {
  const fromServer = messagesOf(SERVER_MESSAGES)
  const fromClient = messagesOf(CLIENT_MESSAGES)
  const { host, protocol } = new URL(publicUrl)
  const messages = Object.fromEntries([
    ...fromServer,
    ...fromClient,
    [AUDIO_OUT, audio(AUDIO_OUT, 'Binary: what the agent says, from `session.started` on.')],
    [AUDIO_IN, audio(AUDIO_IN, 'Binary: what the caller says, up to 100 ms a message, 20 ms as a rule.')],
  ])
  const inChannel = (name: string) => ({ $ref: `#/channels/realtime/messages/${name}` })
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Patchbay realtime sessions',
      version,
      description: 'A web voice session over a WebSocket. docs/realtime.md tells how it goes.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: { this: { host, protocol: protocol === 'https:' ? 'wss' : 'ws', description: 'This installation' } },
    channels: {
      realtime: {
        address: '/realtime',
        title: 'A session',
        description:
          'GET /calls/generate-token or POST /public/agents/{agent_id}/session gives its address. `token` opens it once; with `media=websocket` it outlives its connection, and `resume` opens it once more.',
        servers: [{ $ref: '#/servers/this' }],
        messages: Object.fromEntries(
          Object.keys(messages).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
        bindings: {
          ws: {
            bindingVersion: '0.1.0',
            method: 'GET',
            query: {
              type: 'object',
              properties: {
                token: { type: 'string', description: 'Of a session that begins.' },
                media: { type: 'string', enum: ['websocket', 'webrtc'], description: 'How audio travels.' },
                resume: { type: 'string', description: 'The `resume_token` told last; in place of `token`.' },
              },
            },
          },
        },
      },
    },
    operations: {
      tellClient: {
        action: 'send',
        title: 'What the server says',
        channel: { $ref: '#/channels/realtime' },
        messages: [...fromServer.map(([name]) => name), AUDIO_OUT].map(inChannel),
      },
      hearClient: {
        action: 'receive',
        title: 'What the client says',
        channel: { $ref: '#/channels/realtime' },
        messages: [...fromClient.map(([name]) => name), AUDIO_IN].map(inChannel),
      },
    },
    components: { messages },
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
  summary: 'The realtime protocol as an AsyncAPI 3.0 document',
  examples: { success: { asyncapi: '3.0.0' } },
  handler: (_, { config }) => {
    document ??= JSON.stringify(asyncApiDocument(config.publicUrl, buildInfo().version))
    return new Reply({ body: document, headers: [['content-type', 'application/json; charset=utf-8']] })
  },
})
