import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../demo/free-port.ts'

/** What runs campaigns, as main.ts has it in processes of their own. */
const PROGRAM = new URL('../../test/support/phone/phone-process.ts', import.meta.url)
const CLOCK = fileURLToPath(new URL('../../test/support/world/skewed-clock.ts', import.meta.url))
const START_TIMEOUT_MS = 60_000
/** A node that was killed holds its seats for as long as their leases run. */
const CAPACITY = 40
/** Of each api node with SIP. */
const FIRST_RTP_PORT = 28_000
const RTP_PORTS = 200

export type FleetRole = 'jobs' | 'api' | 'voice'

interface Place {
  role: FleetRole
  /** Says by how many milliseconds its wall clock is ahead. */
  clockFile: string
  env: NodeJS.ProcessEnv
  /** Of one that works; undefined while it starts. */
  child: ChildProcess | undefined
}

/** Processes that run campaigns; one that dies is replaced at once, however many others start just then. */
export class Fleet {
  readonly #args: readonly string[]
  readonly #places: readonly Place[]
  readonly #starting = new Set<ChildProcess>()
  #stopping = false
  /** Of its api nodes. */
  readonly urls: readonly string[]
  /** Processes that ended without having been killed. */
  readonly faults: string[] = []

  private constructor(args: readonly string[], places: readonly Place[], urls: readonly string[]) {
    this.#args = args
    this.#places = places
    this.urls = urls
  }

  /** Resolves when all of them work. */
  static async start(options: {
    databaseUrl: string
    redisUrl: string
    folder: string
    env: Record<string, string>
    size: Readonly<Record<FleetRole, number>>
    /** Calls a voice worker takes at once. */
    capacity?: number
  }): Promise<Fleet> {
    const { databaseUrl, redisUrl, folder, size, capacity = CAPACITY } = options
    const placeOf = async (role: FleetRole, number: number, env: NodeJS.ProcessEnv): Promise<Place> => {
      const clockFile = join(folder, `clock-${role}-${number}`)
      await writeFile(clockFile, '0')
      return {
        role,
        clockFile,
        env: { ...common, ...env, TEST_ROLES: role, TEST_CLOCK_FILE: clockFile },
        child: undefined,
      }
    }
    // They start all the time: what one has compiled, the next need not.
    const common = { NODE_COMPILE_CACHE: join(folder, 'compiled'), ...process.env, ...options.env }
    const urls: string[] = []
    const api: Place[] = []
    for (let i = 0; i < size.api; i++) {
      const port = String(await freePort())
      urls.push(`http://127.0.0.1:${port}`)
      const firstRtp = FIRST_RTP_PORT + i * RTP_PORTS
      const media = `${firstRtp}-${firstRtp + RTP_PORTS - 1}`
      const sip = options.env.TEST_SIP ? { TEST_SIP_PORT: String(await freePort()), TEST_RTP_PORTS: media } : {}
      api.push(await placeOf('api', i, { TEST_API_PORT: port, ...sip }))
    }
    const voice = { TEST_API_URLS: urls.join(), TEST_CAPACITY: String(capacity) }
    const others: Place[] = []
    for (const role of ['voice', 'jobs'] as const) {
      for (let i = 0; i < size[role]; i++) others.push(await placeOf(role, i, role === 'voice' ? voice : {}))
    }
    const fleet = new Fleet([databaseUrl, redisUrl, folder], [...api, ...others], urls)
    await Promise.all(fleet.#places.map((place) => fleet.#fill(place)))
    return fleet
  }

  /** Resolves when it works; one that doesn't, because the services were killed meanwhile, is started again. */
  async #fill(place: Place): Promise<void> {
    while (!this.#stopping) {
      const child = fork(PROGRAM, this.#args, { env: place.env, execArgv: [...process.execArgv, '--import', CLOCK] })
      this.#starting.add(child)
      try {
        const signal = AbortSignal.timeout(START_TIMEOUT_MS)
        const died = once(child, 'exit', { signal }).then(([code]) => {
          throw new Error(`It ended with ${code}`)
        })
        await Promise.race([once(child, 'message', { signal }), died])
        died.catch(() => {})
        this.#starting.delete(child)
        if (this.#stopping) return void child.kill('SIGKILL')
        place.child = child
        child.once('exit', (code) => {
          if (place.child !== child || this.#stopping) return
          place.child = undefined
          this.faults.push(`A process (${place.role}) ended by itself with ${code}`)
          void this.#fill(place)
        })
        return
      } catch {
        this.#starting.delete(child)
        child.kill('SIGKILL')
      }
    }
  }

  /** Kills one that works and starts another in its place. False: none of that role works just now. */
  kill(role: FleetRole, random: () => number): boolean {
    const working = this.#places.filter((place) => place.role === role && place.child !== undefined)
    const place = working[Math.floor(random() * working.length)]
    if (place === undefined) return false
    const victim = place.child
    place.child = undefined
    victim?.kill('SIGKILL')
    void this.#fill(place)
    return true
  }

  /** Sets the wall clock of one of that role ahead by so much; negative: behind. */
  async setClock(role: FleetRole, aheadMs: number): Promise<void> {
    const place = this.#places.find((one) => one.role === role)
    if (place !== undefined) await writeFile(place.clockFile, String(aheadMs))
  }

  stop(): void {
    this.#stopping = true
    for (const { child } of this.#places) child?.kill('SIGKILL')
    for (const child of this.#starting) child.kill('SIGKILL')
  }
}
