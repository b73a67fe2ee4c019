import { boundary, inBackground } from '../../lib/async/boundary.ts'
import type { LinksOptions, SessionHost } from './link-sessions.ts'
import type { WorkerState } from './messages.ts'
import { NodeLink } from './node-link.ts'

/** The voice worker's end of the link: dials every api node and runs the conversations it is offered. */

/** Announcements at once, as a part of the capacity for conversations, beside which they run; at least two. */
const ANNOUNCEMENTS_SHARE = 0.25

export interface Links {
  activeSessions(): number
  /** Api nodes linked now. */
  connectedNodes(): number
  /** Resolves once the first api node has welcomed the worker: from then on it is offered calls. */
  readonly welcomed: Promise<void>
  /**
   * Takes no new session and waits for the running ones; after `graceMs` hands those back to their api nodes, which
   * offer them to another worker. Then leaves every api node.
   */
  stop(graceMs: number): Promise<void>
}

/** Keeps a link to every api node until stopped; a lost link closes its sessions and is dialled again. */
export function connectLinks(options: LinksOptions): Links {
  const worker = new LinkedConversations(options)
  return {
    activeSessions: () => worker.active,
    connectedNodes: () => worker.links.filter((link) => link.connected).length,
    welcomed: worker.welcomed.promise,
    stop: (graceMs) => worker.stop(graceMs),
  }
}

class LinkedConversations implements SessionHost {
  readonly options: LinksOptions
  readonly links: NodeLink[]
  readonly welcomed = Promise.withResolvers<void>()
  active = 0
  announcing = 0
  #stopping: Promise<void> | undefined
  #idle: (() => void) | undefined

  constructor(options: LinksOptions) {
    this.options = options
    this.links = options.urls.map((url) => new NodeLink(url, this))
    options.signal.addEventListener(
      'abort',
      boundary('link', () => inBackground('link', this.stop(0))),
      { once: true },
    )
    if (options.signal.aborted) inBackground('link', this.stop(0))
  }

  state(): WorkerState {
    return this.#stopping === undefined ? this.options.state() : 'draining'
  }

  taken(announcement: boolean): boolean {
    const { capacity } = this.options
    if (announcement) {
      if (this.announcing >= Math.max(2, Math.floor(capacity * ANNOUNCEMENTS_SHARE))) return false
      this.announcing++
    } else {
      if (this.active >= capacity) return false
      this.active++
    }
    return true
  }

  released(announcement: boolean): void {
    if (announcement) this.announcing--
    else this.active--
    if (this.active + this.announcing === 0) this.#idle?.()
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stop(graceMs)
    return this.#stopping
  }

  async #stop(graceMs: number): Promise<void> {
    // The state is read once `#stopping` is set.
    await Promise.resolve()
    for (const link of this.links) link.beat()
    if (this.active + this.announcing > 0 && graceMs > 0 && !this.options.signal.aborted) {
      let timer: NodeJS.Timeout | undefined
      await new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs)
        this.#idle = resolve
        this.options.signal.addEventListener('abort', () => resolve(), { once: true })
      })
      clearTimeout(timer)
    }
    await Promise.all(this.links.map((link) => link.leave()))
  }
}
