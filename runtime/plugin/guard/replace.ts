/** Node's raw bindings: what its own modules are made of. */
export const rawBinding = (process as unknown as { binding(name: string): Record<string, unknown> }).binding

export type AnyFunction = (this: unknown, ...args: unknown[]) => unknown
type Replacement = (original: AnyFunction, args: unknown[], self: unknown) => unknown

/** Puts `by` in the place of a function of `target`, with its name and what util.promisify looks at; nothing where Node has none. */
export function replace(target: object, name: string, by: Replacement): void {
  const functions = target as Record<string, AnyFunction | undefined>
  const original = functions[name]
  if (typeof original !== 'function') return
  function guarded(this: unknown, ...args: unknown[]): unknown {
    return by(original as AnyFunction, args, this)
  }
  functions[name] = Object.defineProperties(guarded, Object.getOwnPropertyDescriptors(original))
}
