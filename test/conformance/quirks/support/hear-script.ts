import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { stt } from '@livekit/agents'
import type { Test } from 'tap'
import { type WebSocket, WebSocketServer } from 'ws'
import type { SpeechOptions } from '../../../../runtime/plugin/contract.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { collect, errorsOf, ONE_ATTEMPT, silence, withInstance } from '../../support.ts'

/** What a recogniser makes of a server's messages: those sent when its first sound comes. The server closes when there is no more. */
export async function hearScript(
  t: Test,
  provider: string,
  {
    env,
    options,
    ...chosen
  }: Partial<Omit<SpeechOptions, 'settings'>> & {
    env: (url: string) => Record<string, string>
    options?: Record<string, unknown>
  },
  script: (say: (message: object) => void) => void,
): Promise<{ events: (readonly [type: stt.SpeechEventType, text: string | undefined])[]; errors: string[] }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  t.teardown(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  server.on('connection', (socket: WebSocket) => {
    let hasSound = false
    socket.on('message', (data, isBinary) => {
      const isSound = isBinary || String(data).includes('"audio":"')
      if (hasSound && !isSound) return socket.close(1000)
      if (!hasSound && isSound) script((message) => socket.send(JSON.stringify(message)))
      hasSound ||= isSound
    })
  })
  await once(server, 'listening')
  const registry = await registryWith(t, env(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), {
    ...(options && { [provider]: options }),
  })
  let heard: Awaited<ReturnType<typeof hearScript>> = { events: [], errors: [] }
  await withInstance(
    () => registry.create('stt', provider, chosen),
    async (recogniser) => {
      const errors = errorsOf(recogniser)
      const stream = recogniser.stream({ connOptions: ONE_ATTEMPT })
      for (const frame of silence(500, 16_000)) stream.pushFrame(frame)
      stream.endInput()
      const events = (await collect(stream, 30_000)).map(
        ({ type, alternatives }) => [type, alternatives?.[0].text] as const,
      )
      stream.close()
      heard = { events, errors: errors.map(({ error }) => error.message) }
    },
  )
  return heard
}
