import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../../test/support/phone/numbers.ts'
import { LiveCalls } from '../chaos/live-calls.ts'
import type { RestClient } from '../demo/rest.ts'

const NUMBER = '+12125550100'
const CALLS = 6
const PROSPECTS = 500
const CALL_LASTS_MS = { least: 10_000, most: 60_000 }
const LATE_MS = 3_000

/** What an installation does all day, and how it was served: requests, web calls, calls that are placed, and a campaign. */
export class Load {
  readonly #rest: RestClient
  readonly #agentId: string
  readonly #stopping = new AbortController()
  readonly #calls: LiveCalls
  #running: Promise<unknown> | undefined
  #requests = 0
  #placed = 0
  #slowest = { tookMs: 0, what: '' }
  readonly #broken: string[] = []

  constructor(rest: RestClient, agentId: string) {
    this.#rest = rest
    this.#agentId = agentId
    const options = { clients: [rest], agentId, calls: CALLS, random: seeded(1), lastsMs: CALL_LASTS_MS }
    this.#calls = new LiveCalls(options)
  }

  async start(): Promise<void> {
    const rest = this.#rest
    await rest.send('POST', '/phone-numbers', { phone_number: NUMBER, provider: 'sim', agent_id: this.#agentId })
    const campaign = { name: 'renewals', agent_id: this.#agentId, max_active_calls: 3, call_ratio: 1 }
    const hours = { earliest_prospect_time: '00:00:00', latest_prospect_time: '23:59:59', dialer_interval: 2 }
    await rest.send('POST', '/api/v/campaign/', { ...campaign, ...hours })
    const phones = Array.from({ length: PROSPECTS }, (_, n) => `+1212${5_560_000 + n}`)
    const form = new FormData()
    form.append('original_data', new Blob([['primary_phone', ...phones].join('\n')]), 'leads.csv')
    await rest.send('POST', '/api/v/upload/renewals/', form)
    this.#running = Promise.all([
      this.#calls.keep(),
      this.#each(100, () => rest.send('GET', '/calls/logs?page_size=20')),
      this.#each(100, () => rest.send('GET', `/agents/${this.#agentId}`)),
      this.#each(500, () => rest.send('GET', '/api/v/campaign/renewals/status/')),
      this.#each(200, () => this.#ready()),
      this.#each(1_000, async () => {
        const call = { agent_phone_number: NUMBER, phone_number_to_dial: `+1212557${1_000 + (this.#placed % 9_000)}` }
        await rest.send('POST', '/calls/outbound_call', call)
        this.#placed++
      }),
    ])
  }

  async #ready(): Promise<void> {
    const answer = await fetch(new URL('/ready', this.#rest.url))
    if (answer.status !== 200) throw new Error(`/ready said ${answer.status}: ${await answer.text()}`)
  }

  async #each(everyMs: number, ask: () => Promise<unknown>): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const startedMs = performance.now()
      await ask().catch((error: Error) => this.#broken.push(error.message.slice(0, 200)))
      const tookMs = performance.now() - startedMs
      this.#requests++
      if (tookMs > this.#slowest.tookMs) this.#slowest = { tookMs, what: String(ask).slice(0, 80) }
      if (tookMs > LATE_MS) this.#broken.push(`a request took ${Math.round(tookMs)} ms: ${String(ask).slice(0, 80)}`)
      await sleep(everyMs)
    }
  }

  /** Figures since the last time. */
  told(): string {
    const { tookMs } = this.#slowest
    const text = `${this.#requests} requests, the slowest ${Math.round(tookMs)} ms; ${this.#calls.begun.length} web calls, ${this.#placed} placed`
    this.#requests = 0
    this.#slowest = { tookMs: 0, what: '' }
    return text
  }

  /** What a client or a caller noticed. */
  async stop(): Promise<string[]> {
    this.#stopping.abort()
    await this.#calls.stop()
    await this.#running
    return [...this.#broken, ...this.#calls.broken]
  }
}
