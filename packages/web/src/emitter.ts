type Listener<V> = (value: V) => void

/** Events by name, each with one value. A listener that throws is reported and keeps nobody from hearing. */
export class Emitter<Events extends object> {
  #listeners: { [K in keyof Events]?: Set<Listener<Events[K]>> } = {}

  /** Listens; what is returned stops listening. */
  on<K extends keyof Events>(name: K, listener: Listener<Events[K]>): () => void {
    const listeners = this.#listeners[name] ?? new Set()
    this.#listeners[name] = listeners
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  protected emit<K extends keyof Events>(name: K, value: Events[K]): void {
    for (const listener of [...(this.#listeners[name] ?? [])]) {
      try {
        listener(value)
      } catch (error) {
        reportError(error)
      }
    }
  }
}
