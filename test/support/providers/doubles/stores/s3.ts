import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Faults } from '../faults.ts'
import { faultOfSignature, type S3Credentials } from './s3-signature.ts'

/** A bucket on a free port of this machine, which believes no signature it has not worked out itself. */
export interface S3Double {
  readonly url: string
  readonly env: Record<string, string>
  readonly faults: Faults
  readonly objects: ReadonlyMap<string, { bytes: Buffer; contentType: string }>
  /** Multipart uploads that were neither completed nor abandoned. */
  readonly openUploads: number
  /** What was asked, in order: `PUT key`, `POST key?uploads`. */
  readonly requests: string[]
  /** The next completion of an upload fails the way S3's do: after the head of its answer was sent. */
  failCompletion(): void
  stop(): Promise<void>
}

export interface S3DoubleOptions {
  nowMs?: () => number
  /** Least bytes of a part that isn't the last; S3's is 5 MiB. */
  minPartBytes?: number
}

const BUCKET = 'patchbay-test'
const CREDENTIALS: S3Credentials = {
  accessKeyId: 'AKIADOUBLE',
  secretAccessKey: 'double-secret/with+signs',
  region: 'eu-test-1',
}
const STATUS: Readonly<Record<string, number>> = {
  AuthorizationHeaderMalformed: 400,
  XAmzContentSHA256Mismatch: 400,
  InvalidPart: 400,
  EntityTooSmall: 400,
  InvalidRange: 416,
  NoSuchKey: 404,
  NoSuchBucket: 404,
  NoSuchUpload: 404,
  MethodNotAllowed: 405,
}

interface Upload {
  key: string
  contentType: string
  parts: Map<number, { bytes: Buffer; tag: string }>
}

export async function startS3Double(options: S3DoubleOptions = {}): Promise<S3Double> {
  const { nowMs = Date.now, minPartBytes = 5 * 1024 * 1024 } = options
  const faults = new Faults()
  const objects = new Map<string, { bytes: Buffer; contentType: string }>()
  const uploads = new Map<string, Upload>()
  const requests: string[] = []
  const sockets = new Set<Socket>()
  let completionFails = false

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://s3')
    const [, bucket = '', ...rest] = url.pathname.split('/')
    const key = rest.join('/')
    const upload = url.searchParams.has('uploads') ? '?uploads' : url.searchParams.has('uploadId') ? '?uploadId' : ''
    requests.push(`${request.method} ${key}${upload}`)
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    const fault = faults.take()
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'slow') await sleep(fault.firstMs)
    if (fault?.kind === 'refuse') {
      refuse(response, fault.code ?? 'InternalError', fault.status, fault.message)
      return
    }
    if (fault?.kind === 'disconnect') {
      request.socket.destroy()
      return
    }
    const wrong = faultOfSignature(request, body, CREDENTIALS, nowMs())
    if (wrong !== undefined) refuse(response, wrong)
    else if (bucket !== BUCKET) refuse(response, 'NoSuchBucket')
    else handle(request, response, url, key, body)
  }

  function handle(
    request: IncomingMessage,
    response: ServerResponse,
    url: URL,
    key: string,
    body: Buffer,
  ): ServerResponse {
    const contentType = request.headers['content-type'] ?? 'binary/octet-stream'
    const uploadId = url.searchParams.get('uploadId')
    const upload = uploadId === null ? undefined : uploads.get(uploadId)
    if (uploadId !== null && upload?.key !== key) return refuse(response, 'NoSuchUpload')
    const route = `${request.method}${key === '' ? ' bucket' : upload ? ' upload' : ''}`
    switch (route) {
      case 'GET bucket':
        return xml(response, 200, '<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>')
      case 'POST': {
        if (!url.searchParams.has('uploads')) return refuse(response, 'MethodNotAllowed')
        const id = randomUUID()
        uploads.set(id, { key, contentType, parts: new Map() })
        return xml(
          response,
          200,
          `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
        )
      }
      case 'PUT upload': {
        const tag = `"${createHash('md5').update(body).digest('hex')}"`
        upload!.parts.set(Number(url.searchParams.get('partNumber')), { bytes: body, tag })
        return response.writeHead(200, { etag: tag }).end()
      }
      case 'POST upload': {
        if (completionFails) {
          completionFails = false
          return xml(response, 200, errorBody('InternalError'))
        }
        const wrong = complete(upload!, body.toString())
        if (wrong !== undefined) return refuse(response, wrong)
        uploads.delete(uploadId!)
        return xml(response, 200, '<CompleteMultipartUploadResult><ETag>"x-1"</ETag></CompleteMultipartUploadResult>')
      }
      case 'DELETE upload':
        uploads.delete(uploadId!)
        return response.writeHead(204).end()
      case 'PUT':
        objects.set(key, { bytes: body, contentType })
        return response.writeHead(200, { etag: '"e"' }).end()
      case 'DELETE':
        objects.delete(key)
        return response.writeHead(204).end()
      case 'GET':
      case 'HEAD': {
        const object = objects.get(key)
        if (object === undefined) return refuse(response, 'NoSuchKey')
        const disposition = url.searchParams.get('response-content-disposition')
        const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
        const size = object.bytes.length
        if (from !== undefined && Number(from) >= size) return refuse(response, 'InvalidRange')
        const bytes = from === undefined ? object.bytes : object.bytes.subarray(Number(from), Number(to) + 1)
        response.writeHead(from === undefined ? 200 : 206, {
          'content-type': object.contentType,
          'content-length': bytes.length,
          ...(from === undefined
            ? {}
            : { 'content-range': `bytes ${from}-${Number(from) + bytes.length - 1}/${size}` }),
          ...(disposition === null ? {} : { 'content-disposition': disposition }),
        })
        return response.end(request.method === 'HEAD' ? undefined : bytes)
      }
      default:
        return refuse(response, 'MethodNotAllowed')
    }
  }

  /** Joins the parts that the completion lists, in its order. */
  function complete({ key, contentType, parts }: Upload, body: string): string | undefined {
    const listed = [...body.matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>(.*?)<\/ETag>/g)].map(([, number, tag]) => ({
      part: parts.get(Number(number)),
      tag: tag?.replaceAll('&quot;', '"'),
    }))
    if (listed.length === 0 || listed.some(({ part, tag }) => part?.tag !== tag)) return 'InvalidPart'
    if (listed.slice(0, -1).some(({ part }) => part!.bytes.length < minPartBytes)) return 'EntityTooSmall'
    objects.set(key, { bytes: Buffer.concat(listed.map(({ part }) => part!.bytes)), contentType })
    return undefined
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    env: {
      S3_ENDPOINT: url,
      S3_BUCKET: BUCKET,
      S3_REGION: CREDENTIALS.region,
      S3_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
      S3_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    },
    faults,
    objects,
    get openUploads() {
      return uploads.size
    },
    requests,
    failCompletion() {
      completionFails = true
    },
    async stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function errorBody(code: string, message = 'The double refuses.'): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`
}

function refuse(
  response: ServerResponse,
  code: string,
  status = STATUS[code] ?? 403,
  message?: string,
): ServerResponse {
  return xml(response, status, errorBody(code, message))
}

function xml(response: ServerResponse, status: number, body: string): ServerResponse {
  return response.writeHead(status, { 'content-type': 'application/xml' }).end(body)
}
