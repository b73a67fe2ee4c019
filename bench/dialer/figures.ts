export interface Figure {
  name: string
  ours: number
  peer?: number
  ratio?: number
  target: string
  runs: number
}

/** Prints a figure and returns whether its target was met. */
export function report({ name, ours, peer, target, runs }: Figure): boolean {
  const ratio = peer === undefined ? undefined : ours / peer
  const round = (value: number | undefined) => (value === undefined ? null : Number(value.toPrecision(4)))
  const met = meets(ratio ?? ours, target)
  const figure = { name: `Dialer, ${name}`, ours: round(ours), peer: round(peer), ratio: round(ratio), target, runs }
  process.stdout.write(`${JSON.stringify(met ? figure : { ...figure, missed: true })}\n`)
  return met
}

function meets(value: number, target: string): boolean {
  const [sign, limit] = target.split(' ')
  if (sign === '-') return true
  return sign === '>=' ? value >= Number(limit) : value <= Number(limit)
}

/** Milliseconds that the work took. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
