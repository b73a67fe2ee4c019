import type { Surface } from './surface.ts'
import { mcp, webhookAnswer } from './surfaces/answers.ts'
import { backup } from './surfaces/backup.ts'
import { carrierStream } from './surfaces/carrier-stream.ts'
import { csv, documents } from './surfaces/files.ts'
import { link } from './surfaces/link.ts'
import { listen } from './surfaces/listen.ts'
import { realtime } from './surfaces/realtime.ts'
import { rest } from './surfaces/rest.ts'
import { rtp } from './surfaces/rtp.ts'
import { sdp, sip } from './surfaces/sip.ts'

/** Every way into an installation. */
export const SURFACES: readonly Surface[] = [
  rest,
  realtime,
  listen,
  sip,
  sdp,
  rtp,
  link,
  carrierStream,
  webhookAnswer,
  mcp,
  csv,
  documents,
  backup,
]
