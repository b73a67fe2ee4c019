import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from '../instance/services.ts'

/**
 * A collector of traces by OTLP/HTTP (OpenTelemetry Protocol 1.x, binary protobuf): it reads what the protocol says and
 * answers 400 to what it forbids.
 */

export interface CollectedSpan {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
  kind: number
  /** Milliseconds since 1970. */
  startMs: number
  endMs: number
  attributes: Record<string, unknown>
  events: { name: string; attributes: Record<string, unknown> }[]
  status: { code: number; message: string }
  service: unknown
}

export interface Collector {
  readonly url: string
  readonly spans: CollectedSpan[]
  readonly headers: Record<string, unknown>[]
  /** What was wrong with requests. */
  readonly faults: string[]
  /** The status of its answers; other than 200, what it got is not in `spans`. */
  answer: number
}

export async function startCollector(t: Teardown, answer = 200): Promise<Collector> {
  const [spans, headers, faults]: [CollectedSpan[], Record<string, unknown>[], string[]] = [[], [], []]
  const collector: Collector = { url: '', spans, headers, faults, answer }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    headers.push(request.headers)
    try {
      if (request.method !== 'POST' || request.url !== '/v1/traces') throw new Error(`${request.method} ${request.url}`)
      if (request.headers['content-type'] !== 'application/x-protobuf') throw new Error('content-type')
      const read = spansOf(Buffer.concat(parts))
      for (const span of read) check(span)
      if (collector.answer === 200) spans.push(...read)
      // An empty ExportTraceServiceResponse.
      response.writeHead(collector.answer, { 'content-type': 'application/x-protobuf' }).end()
    } catch (error) {
      faults.push((error as Error).message)
      response.writeHead(400).end()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return Object.assign(collector, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

/** What trace.proto says in words. */
function check(span: CollectedSpan): void {
  const { name, traceId, spanId, parentSpanId, startMs, endMs } = span
  if (traceId.length !== 32 || /^0+$/.test(traceId)) throw new Error(`trace_id "${traceId}"`)
  if (spanId.length !== 16 || /^0+$/.test(spanId)) throw new Error(`span_id "${spanId}"`)
  if (parentSpanId !== '' && (parentSpanId.length !== 16 || parentSpanId === spanId)) throw new Error('parent_span_id')
  if (name === '') throw new Error('name')
  if (startMs <= 0 || endMs < startMs) throw new Error(`times of ${name}: ${startMs} ${endMs}`)
}

type Fields = Map<number, (Buffer | bigint)[]>

/** A message of protobuf by field numbers: varints and fixed numbers as bigint, the rest as bytes. */
function fieldsOf(bytes: Buffer): Fields {
  const fields: Fields = new Map()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined || shift > 63n) throw new Error('broken varint')
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('broken message')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wire = tag & 7
    const value =
      wire === 0
        ? varint()
        : wire === 1
          ? take(8).readBigUInt64LE()
          : wire === 2
            ? take(Number(varint()))
            : wire === 5
              ? BigInt(take(4).readUInt32LE())
              : undefined
    if (value === undefined) throw new Error(`wire type ${wire}`)
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  return fields
}

const messages = (fields: Fields, n: number): Fields[] => (fields.get(n) ?? []).map((one) => fieldsOf(one as Buffer))
const bytesOf = (fields: Fields, n: number): Buffer => (fields.get(n)?.[0] as Buffer | undefined) ?? Buffer.alloc(0)
const textOf = (fields: Fields, n: number): string => bytesOf(fields, n).toString()
const numberOf = (fields: Fields, n: number): bigint => (fields.get(n)?.[0] as bigint | undefined) ?? 0n

/** KeyValue: 1 key, 2 AnyValue: 1 string, 2 bool, 3 int, 4 double. */
function attributesOf(fields: Fields, n: number): Record<string, unknown> {
  const pairs = messages(fields, n).map((pair) => {
    const value = fieldsOf(bytesOf(pair, 2))
    const [[kind, [raw]] = [0, []]] = value as unknown as Iterable<[number, (Buffer | bigint)[]]>
    const double = () => {
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64LE(raw as bigint)
      return bytes.readDoubleLE()
    }
    const read =
      kind === 1 ? String(raw) : kind === 2 ? raw === 1n : kind === 3 ? Number(raw) : kind === 4 ? double() : raw
    return [textOf(pair, 1), read]
  })
  return Object.fromEntries(pairs)
}

/** ExportTraceServiceRequest: 1 ResourceSpans: 1 Resource, 2 ScopeSpans: 2 Span. */
function spansOf(body: Buffer): CollectedSpan[] {
  return messages(fieldsOf(body), 1).flatMap((ofResource) => {
    const service = attributesOf(fieldsOf(bytesOf(ofResource, 1)), 1)['service.name']
    return messages(ofResource, 2).flatMap((ofScope) =>
      messages(ofScope, 2).map((span) => {
        const status = fieldsOf(bytesOf(span, 15))
        return {
          traceId: bytesOf(span, 1).toString('hex'),
          spanId: bytesOf(span, 2).toString('hex'),
          parentSpanId: bytesOf(span, 4).toString('hex'),
          name: textOf(span, 5),
          kind: Number(numberOf(span, 6)),
          startMs: Number(numberOf(span, 7)) / 1e6,
          endMs: Number(numberOf(span, 8)) / 1e6,
          attributes: attributesOf(span, 9),
          events: messages(span, 11).map((one) => ({ name: textOf(one, 2), attributes: attributesOf(one, 3) })),
          status: { code: Number(numberOf(status, 3)), message: textOf(status, 2) },
          service,
        }
      }),
    )
  })
}
