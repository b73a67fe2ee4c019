import { setTimeout as sleep } from 'node:timers/promises'
import { WebRtcClient } from '../../support/browser/webrtc-client.ts'
import type { RealtimeClient } from '../../support/instance/realtime-node.ts'
import type { Teardown } from '../../support/instance/services.ts'
import { WirePhone } from '../../support/phone/wire-phone.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

/** What goes in comes back: the conversation behind these calls sends its caller's sound back. */
const TONE_MS = 400
const LIMIT_MS = 4_000
const RATE_HZ = 8_000
const LOUD = 1_000

/** A call over one kind of leg, by what its caller can tell. */
export interface LegUnderTest {
  readonly name: string
  /** Whether the caller is heard, and hears. */
  works(): Promise<boolean>
}

/** A call of a page over its WebSocket, in text. */
export function webSocketLeg(page: RealtimeClient): LegUnderTest {
  let words = 0
  return {
    name: 'WebSocket',
    works() {
      const text = `word${++words}`
      page.send({ type: 'text', text })
      return soon(() =>
        page.messages.some((message) => message.type === 'transcript' && `${message.text}`.includes(text)),
      )
    },
  }
}

/** A call that a phone of a trunk makes. */
export async function sipLeg(t: Teardown, sipPort: number, number: string): Promise<LegUnderTest> {
  const phone = await WirePhone.start(t, sipPort)
  await phone.call(number)
  const tone = Int16Array.from({ length: (RATE_HZ * TONE_MS) / 1_000 }, (_, n) => 8_000 * Math.sin(n / 3))
  return {
    name: 'SIP',
    works() {
      phone.heard()
      phone.say(tone)
      let speechMs = 0
      return soon(() => {
        speechMs += phone.heard().speechMs
        return !phone.isLeft && speechMs > 0
      })
    },
  }
}

/** A call of a page over WebRTC. */
export async function webRtcLeg(t: Teardown, url: string, token: string): Promise<LegUnderTest> {
  const client = await WebRtcClient.open(t, { url: url.replace(/^http/, 'ws') }, token)
  await client.line.got('session.started')
  return {
    name: 'WebRTC',
    async works() {
      await waitUntil(() => client.hasSpoken)
      client.takeLoudest()
      client.speak(TONE_MS)
      return soon(() => client.takeLoudest() > LOUD)
    },
  }
}

async function soon(is: () => boolean): Promise<boolean> {
  const endMs = performance.now() + LIMIT_MS
  while (performance.now() < endMs) {
    if (is()) return true
    await sleep(50)
  }
  return false
}
