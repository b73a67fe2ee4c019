import { test } from 'tap'
import { ResponseSequencer } from '../../../../../runtime/conversation/realtime/sequencer.ts'
import { Random } from '../../../../fuzz/random.ts'

const ORDERS = 2_000
const STEPS = 60
const QUESTIONS = 8

type News = { type: 'started' | 'done'; responseId: string } | { type: 'refused' }

/** A session at the end of a line: what either side says arrives later, in order. */
class Session {
  readonly #random: Random
  readonly #sequencer = new ResponseSequencer<number>()
  readonly #told: ReturnType<ResponseSequencer<number>['request']> = []
  readonly #says: News[] = []
  #active: string | undefined
  #responses = 0
  readonly cancelled = new Set<number>()
  /** Whose answer each response was to the end. */
  readonly answers: number[] = []
  readonly faults: string[] = []

  constructor(random: Random) {
    this.#random = random
  }

  ask(question: number): void {
    this.#told.push(...this.#sequencer.request(question))
  }

  cancel(question: number): void {
    if (this.answers.includes(question)) return
    this.cancelled.add(question)
    this.#told.push(...this.#sequencer.cancel(question))
  }

  /** Something happens, where something can. */
  goOn(): boolean {
    const can = [
      this.#told.length > 0 && (() => this.#take()),
      this.#says.length > 0 && (() => this.#hear()),
      this.#active !== undefined && (() => this.#finish()),
    ].filter((one) => one !== false)
    if (can.length === 0) return false
    this.#random.pick(can)()
    return true
  }

  #take(): void {
    const order = this.#told.shift()!
    if (order.type === 'cancel') {
      if (this.#active === order.responseId) this.#finish()
      return
    }
    if (this.#active !== undefined) {
      this.faults.push(`asked for ${order.of} while ${this.#active} runs`)
      this.#says.push({ type: 'refused' })
      return
    }
    this.#active = `r${++this.#responses}`
    this.#says.push({ type: 'started', responseId: this.#active })
  }

  #finish(): void {
    this.#says.push({ type: 'done', responseId: this.#active! })
    this.#active = undefined
  }

  #hear(): void {
    const news = this.#says.shift()!
    if (news.type === 'refused') return
    if (news.type === 'started') {
      this.#told.push(...this.#sequencer.started(news.responseId))
      return
    }
    const owner = this.#sequencer.ownerOf(news.responseId)
    if (owner !== undefined) this.answers.push(owner)
    this.#told.push(...this.#sequencer.done(news.responseId))
  }
}

test('in whatever order things happen, each question that is still wanted is answered once, in its turn', async (t) => {
  for (let seed = 0; seed < ORDERS; seed++) {
    const random = new Random(seed)
    const session = new Session(random)
    let asked = 0
    for (let step = 0; step < STEPS; step++) {
      if (asked < QUESTIONS && random.chance(0.25)) session.ask(asked++)
      else if (asked > 0 && random.chance(0.15)) session.cancel(random.below(asked))
      else session.goOn()
    }
    while (session.goOn());
    const wanted = [...Array(asked).keys()].filter((question) => !session.cancelled.has(question))
    const how = `seed ${seed}: answered ${session.answers}, wanted ${wanted}`
    if (session.faults.length > 0) return t.fail(`${how}; ${session.faults}`)
    if (String(session.answers) !== String(wanted)) return t.fail(how)
  }
  t.pass(`${ORDERS} orders`)
})
