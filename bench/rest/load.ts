/** The load generator, in a process of its own. Argument: a Load as JSON; prints a LoadResult as JSON. */
import autocannon from 'autocannon'

export interface Load {
  url: string
  method: 'GET' | 'POST'
  body?: string
  /** One a connection, in turn: as many users as cookies. */
  cookies: string[]
  connections: number
  durationS: number
}

export interface LoadResult {
  requests: number
  failed: number
  durationS: number
  p50Ms: number
  p99Ms: number
}

const load = JSON.parse(process.argv[2] ?? '') as Load
let clients = 0
const result = await autocannon({
  url: load.url,
  method: load.method,
  connections: load.connections,
  duration: load.durationS,
  ...(load.body === undefined ? {} : { body: load.body }),
  setupClient: (client) => {
    const cookie = `access_token=${load.cookies[clients++ % load.cookies.length]}`
    client.setHeaders({ cookie, ...(load.body === undefined ? {} : { 'content-type': 'application/json' }) })
  },
})
const answered: LoadResult = {
  requests: result.requests.total,
  failed: result.non2xx + result.errors + result.timeouts,
  durationS: result.duration,
  p50Ms: result.latency.p50,
  p99Ms: result.latency.p99,
}
process.stdout.write(JSON.stringify(answered))
