/** A browser that resumes does so within it. */
const RESUMES_MS = 1_000

/**
 * Keeps an audio context running: browsers suspend it for a phone call or a locked screen, and do not always resume it. `blocked`: it
 * takes a click.
 */
export class PlaybackWatch {
  readonly #context: AudioContext
  readonly #blocked: (isBlocked: boolean) => void
  #isBlocked = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(context: AudioContext, blocked: (isBlocked: boolean) => void) {
    this.#context = context
    this.#blocked = blocked
    context.addEventListener('statechange', this.#look)
    globalThis.document?.addEventListener('visibilitychange', this.#look)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#context.removeEventListener('statechange', this.#look)
    globalThis.document?.removeEventListener('visibilitychange', this.#look)
  }

  readonly #look = (): void => {
    clearTimeout(this.#timer)
    const { state } = this.#context
    if (state === 'closed') return
    if (state === 'running') {
      this.#tell(false)
      return
    }
    // Without leave it neither resolves nor rejects in some browsers.
    void this.#context.resume().catch(() => undefined)
    this.#timer = setTimeout(() => this.#tell(this.#context.state !== 'running'), RESUMES_MS)
  }

  #tell(isBlocked: boolean): void {
    if (isBlocked === this.#isBlocked) return
    this.#isBlocked = isBlocked
    this.#blocked(isBlocked)
  }
}
