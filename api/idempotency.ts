import { createHash } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import { PatchbayError } from '../runtime/lib/errors.ts'
import { claim, dropKey, keepAnswer, keepWithEffect, keptAnswer } from '../store/database/idempotency.ts'
import type { Tenant } from '../store/database/tenant.ts'
import { ValidationError } from './schema.ts'

/**
 * `Idempotency-Key` where the answer is kept with what it makes: a client that repeats a request after a lost answer gets that answer, and no second effect.
 * The key is the workspace's; the same key with another input is a mistake of the caller's and answered 422.
 */

export const MAX_KEY_LENGTH = 255

interface KeyedRequest {
  readonly idempotencyKey: string
  readonly tenant: Tenant
  /** What the request asks for, beside its path: two requests with the same input ask for the same. */
  readonly input: unknown
  /** Method and path of the route. */
  readonly route: string
  /** Called where the answer is one that was given before. */
  answeredBefore?(): void
}

/** The keyed request of a handler. */
export function keyedBy(
  request: { readonly idempotencyKey: string; answeredBefore(): void },
  tenant: Tenant,
  route: string,
  input: unknown,
): KeyedRequest {
  return {
    idempotencyKey: request.idempotencyKey,
    tenant,
    input,
    route,
    answeredBefore: () => request.answeredBefore(),
  }
}

/** Requests of one key within this process come one after the other, so that they don't hold a connection each. */
const underWay = new Map<string, Promise<unknown>>()

/**
 * Does `effect` once for each key, in one transaction with the keeping of its answer. Everything it writes goes through
 * the tenant it is given; nothing outside the database may happen in it. Without a key it is simply done, in a
 * transaction too. `isNew` is false where the answer is one that was given before.
 */
export async function once<T>(
  request: KeyedRequest,
  effect: (tenant: Tenant) => Promise<T>,
): Promise<{ answer: T; isNew: boolean }> {
  const { idempotencyKey: key, tenant } = request
  if (key === '') {
    const within = (db: Tenant['db']) => effect({ workspaceId: tenant.workspaceId, db })
    return { answer: await tenant.db.transaction().execute(within), isNew: true }
  }
  return keyed(request, async (hash) => {
    const made = await keepWithEffect(tenant, key, hash, async (within) => JSON.stringify(await effect(within)))
    return made === undefined ? undefined : (JSON.parse(made) as T)
  })
}

/**
 * As `once`, for an effect outside the database, such as a purchase. The key is kept before: where the process ends in
 * between, or the effect fails in a way that `isUndecided` can't distinguish from success, it is unknown whether it took place,
 * so the same key is then answered 409 instead of doing it again.
 */
export async function onceOutside<T>(
  request: KeyedRequest,
  effect: () => Promise<T>,
  isUndecided: (error: unknown) => boolean,
): Promise<{ answer: T; isNew: boolean }> {
  const { idempotencyKey: key, tenant } = request
  if (key === '') return { answer: await effect(), isNew: true }
  return keyed(request, async (hash) => {
    if (!(await claim(tenant, key, hash))) return undefined
    let answer: T
    try {
      answer = await effect()
    } catch (error) {
      if (!isUndecided(error)) await dropKey(tenant, key)
      throw error
    }
    await keepAnswer(tenant, key, JSON.stringify(answer))
    return answer
  })
}

/**
 * As `once`, for resources made in a transaction of their own, such as an upload, under a preset id. A client that comes
 * with the same key after a process ended in between looks whether it was made, and makes it if not: `make` fails where the
 * id exists, and `find` answers for what does.
 */
export async function onceUnderId<T>(
  request: KeyedRequest,
  make: (id: string) => Promise<T>,
  find: (id: string) => Promise<T | undefined>,
): Promise<T> {
  const { idempotencyKey: key, tenant } = request
  if (key === '') return make(uuidv7())
  const makeOrFind = async (id: string): Promise<T> => {
    let answer = await find(id)
    if (answer === undefined) {
      try {
        answer = await make(id)
      } catch (error) {
        // Another node may have made it meanwhile.
        answer = await find(id)
        if (answer === undefined) {
          await dropKey(tenant, key)
          throw error
        }
      }
    }
    await keepAnswer(tenant, key, JSON.stringify(answer))
    return answer
  }
  const { answer } = await keyed(
    request,
    async (hash) => {
      const id = uuidv7()
      return (await claim(tenant, key, hash, id)) ? makeOrFind(id) : undefined
    },
    makeOrFind,
  )
  return answer
}

async function keyed<T>(
  { idempotencyKey: key, tenant, input, route, answeredBefore }: KeyedRequest,
  attempt: (requestHash: Buffer) => Promise<T | undefined>,
  /** Ends what a key began under an id; without it that stays undecided. */
  finish?: (effectId: string) => Promise<T>,
): Promise<{ answer: T; isNew: boolean }> {
  if (key.length > MAX_KEY_LENGTH) throw keyFault(`must have at most ${MAX_KEY_LENGTH} characters`)
  const hash = createHash('sha256')
    .update(JSON.stringify([route, input]))
    .digest()
  const name = `${tenant.workspaceId} ${key}`
  while (underWay.has(name)) await underWay.get(name)
  const running = attemptOrRead()
  const settled = running.then(
    () => {},
    () => {},
  )
  underWay.set(name, settled)
  try {
    const { answer, isNew } = await running
    if (!isNew) answeredBefore?.()
    return { answer, isNew }
  } finally {
    if (underWay.get(name) === settled) underWay.delete(name)
  }

  async function attemptOrRead(): Promise<{ answer: T; isNew: boolean }> {
    const before = await keptAnswer(tenant, key)
    if (before === undefined) {
      const answer = await attempt(hash)
      if (answer !== undefined) return { answer, isNew: true }
    }
    // Another node was first.
    const kept = before ?? (await keptAnswer(tenant, key))
    if (kept === undefined) throw new PatchbayError('idempotency_unsettled')
    if (!kept.requestHash.equals(hash)) throw keyFault('was used with another input')
    if (kept.answer === null) {
      if (finish === undefined || kept.effectId === null) throw new PatchbayError('idempotency_unsettled')
      return { answer: await finish(kept.effectId), isNew: false }
    }
    return { answer: JSON.parse(kept.answer) as T, isNew: false }
  }
}

/** What is wrong with an `Idempotency-Key`. */
export function keyFault(msg: string): ValidationError {
  return new ValidationError([{ loc: ['header', 'Idempotency-Key'], msg, type: 'value_error' }])
}
