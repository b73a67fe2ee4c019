/** What comes back of a loudspeaker. */
export interface PageEcho {
  readonly lossDb: number
  /** From the loudspeaker to the microphone. */
  readonly delayMs: number
}

/**
 * In a page whose microphone is PAGE_MICROPHONE, before its call: a room without any cancelling of echoes. Whatever the page plays, its
 * microphone hears, as loud and as late as that.
 */
export const pageEcho = ({ lossDb, delayMs }: PageEcho): string => `
const { set } = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'srcObject')
let room
Object.defineProperty(HTMLMediaElement.prototype, 'srcObject', {
  set(stream) {
    set.call(this, stream)
    room?.disconnect()
    room = stream && context.createMediaStreamSource(stream)
    room
      ?.connect(new DelayNode(context, { delayTime: ${delayMs / 1000}, maxDelayTime: 1 }))
      .connect(new GainNode(context, { gain: ${10 ** (-lossDb / 20)} }))
      .connect(microphone)
  },
})
`
