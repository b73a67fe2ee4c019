/** Of each core and of memory that much is used at most: what is left takes the peaks. */
const USED_SHARE = 0.7
const GIB = 2 ** 30
const MIB = 2 ** 20

/** What some calls of one kind took of a voice worker and of an api node. */
export interface Used {
  readonly providers: string
  readonly calls: number
  readonly seconds: number
  readonly workerCpuMs: number
  readonly apiCpuMs: number
  /** What both use each second without a call. */
  readonly workerIdleCpuMs: number
  readonly apiIdleCpuMs: number
  /** Of the worker before its first call, and with these calls. */
  readonly idleBytes: number
  readonly busyBytes: number
}

/** A row of the capacity table. */
export interface CapacityRow {
  readonly providers: string
  /** In hundredths of a core. */
  readonly workerPercentACall: number
  readonly apiPercentACall: number
  readonly workerCallsACore: number
  readonly apiCallsACore: number
  readonly idleMib: number
  readonly mibACall: number
  /** That a worker in a GiB holds. */
  readonly callsAGib: number
}

/** How many calls a core and a GiB carry, at seven tenths of each. Memory that the calls' first moments took counts as theirs. */
export function capacityRow(used: Used): CapacityRow {
  const { providers, calls, seconds, idleBytes, busyBytes } = used
  const shareOf = (cpuMs: number, idleMs: number): number => Math.max(1e-6, cpuMs / seconds - idleMs) / 1_000 / calls
  const worker = shareOf(used.workerCpuMs, used.workerIdleCpuMs)
  const api = shareOf(used.apiCpuMs, used.apiIdleCpuMs)
  const callsOf = (share: number, idleMs: number): number =>
    Math.max(0, Math.floor((USED_SHARE - idleMs / 1_000) / share))
  const bytesACall = Math.max(0, busyBytes - idleBytes) / calls
  const callsIn = (bytes: number): number => Math.max(0, Math.floor(bytes / Math.max(1, bytesACall)))
  return {
    providers,
    workerPercentACall: Number((100 * worker).toFixed(2)),
    apiPercentACall: Number((100 * api).toFixed(2)),
    workerCallsACore: callsOf(worker, used.workerIdleCpuMs),
    apiCallsACore: callsOf(api, used.apiIdleCpuMs),
    idleMib: Math.round(idleBytes / MIB),
    mibACall: Number((bytesACall / MIB).toFixed(1)),
    callsAGib: callsIn(USED_SHARE * GIB - idleBytes),
  }
}

/** The rows as docs/operations.md has them. */
export function capacityTable(rows: readonly CapacityRow[]): string {
  const lines = rows.map((row) =>
    [
      row.providers,
      `${row.workerPercentACall} %`,
      row.workerCallsACore,
      `${row.mibACall} MiB`,
      row.callsAGib,
      `${row.apiPercentACall} %`,
      row.apiCallsACore,
    ].join(' | '),
  )
  return [
    '| providers | core a call, worker | calls a core | memory a call | calls in a GiB | core a call, api | calls a core |',
    '|---|---|---|---|---|---|---|',
    ...lines.map((line) => `| ${line} |`),
  ].join('\n')
}
