/** Tells what becomes of a microphone by itself: a headset is switched off, a phone call takes it, the permission is taken back. */
export class MicrophoneWatch {
  readonly #muted: (isMuted: boolean) => void
  readonly #ended: () => void
  #tracks: readonly MediaStreamTrack[] = []
  #isMuted = false

  constructor(told: { muted(isMuted: boolean): void; ended(): void }) {
    this.#muted = told.muted
    this.#ended = told.ended
  }

  /** From now on this stream's; undefined: none. */
  watch(stream: MediaStream | undefined): void {
    for (const track of this.#tracks) {
      track.removeEventListener('mute', this.#changed)
      track.removeEventListener('unmute', this.#changed)
      track.removeEventListener('ended', this.#ended)
    }
    this.#tracks = stream?.getAudioTracks() ?? []
    for (const track of this.#tracks) {
      track.addEventListener('mute', this.#changed)
      track.addEventListener('unmute', this.#changed)
      track.addEventListener('ended', this.#ended)
    }
    this.#changed()
  }

  readonly #changed = (): void => {
    const isMuted = this.#tracks.some(({ muted }) => muted)
    if (isMuted === this.#isMuted) return
    this.#isMuted = isMuted
    this.#muted(isMuted)
  }
}
