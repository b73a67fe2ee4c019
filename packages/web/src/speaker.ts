/** Plays a stream, on the speaker chosen. A browser that wants a click first says so by `blocked`. */
export class Speaker {
  readonly #element = new Audio()
  readonly #blocked: (isBlocked: boolean) => void

  constructor(blocked: (isBlocked: boolean) => void) {
    this.#blocked = blocked
    this.#element.autoplay = true
    // The system pauses it, as for a phone call.
    this.#element.addEventListener('pause', () => {
      if (this.#element.srcObject !== null) void this.resume()
    })
  }

  async play(stream: MediaStream): Promise<void> {
    this.#element.srcObject = stream
    await this.resume()
  }

  /** To be called in a click once `blocked` was told. */
  async resume(): Promise<void> {
    try {
      await this.#element.play()
      this.#blocked(false)
    } catch (error) {
      if ((error as DOMException).name === 'NotAllowedError') this.#blocked(true)
    }
  }

  set volume(volume: number) {
    this.#element.volume = Math.max(0, Math.min(1, volume))
  }

  async choose(deviceId: string): Promise<void> {
    await this.#element.setSinkId?.(deviceId)
  }

  close(): void {
    this.#element.srcObject = null
    this.#element.pause()
  }
}
