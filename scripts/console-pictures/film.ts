import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { animatedWebp, type Frame } from './animated-webp.ts'

const EVERY_MS = 400
const MAX_FRAMES = 60
/** How long the end is shown before it begins again. */
const LAST_MS = 3_000

interface Shot {
  readonly png: string
  readonly atMs: number
}

interface Changed {
  readonly webp: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A film of the page while `act` goes on. `blank`: another page, which reads and writes the pictures. */
export async function film(page: Page, blank: Page, act: () => Promise<void>, quality: number): Promise<Buffer> {
  const shots: Shot[] = []
  let isOver = false
  const taking = (async () => {
    while (!isOver && shots.length < MAX_FRAMES) {
      shots.push({ png: (await page.screenshot()).toString('base64'), atMs: Date.now() })
      await sleep(EVERY_MS)
    }
  })()
  await act().finally(() => {
    isOver = true
  })
  await taking
  const { width = 0, height = 0 } = page.viewportSize() ?? {}
  const frames: Frame[] = []
  for (const [i, { png, atMs }] of shots.entries()) {
    const changed = await changedPart(blank, shots[i - 1]?.png, png, quality)
    const durationMs = (shots[i + 1]?.atMs ?? atMs + LAST_MS) - atMs
    const last = frames.at(-1)
    // Nothing moved: the picture before stands longer.
    if (changed === undefined && last !== undefined)
      frames[frames.length - 1] = { ...last, durationMs: last.durationMs + durationMs }
    if (changed !== undefined) frames.push({ ...changed, webp: Buffer.from(changed.webp, 'base64'), durationMs })
  }
  return animatedWebp(width, height, frames)
}

/** The smallest part of a picture that differs from the one before, written by the browser; undefined: none does. */
function changedPart(
  blank: Page,
  before: string | undefined,
  png: string,
  quality: number,
): Promise<Changed | undefined> {
  return blank.evaluate(`(async () => {
    const read = async (png) => {
      const image = new Image()
      image.src = 'data:image/png;base64,' + png
      await image.decode()
      const canvas = document.createElement('canvas')
      canvas.width = image.width
      canvas.height = image.height
      const context = canvas.getContext('2d', { alpha: false })
      context.drawImage(image, 0, 0)
      return { canvas, pixels: new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer) }
    }
    const now = await read('${png}')
    const { width, height } = now.canvas
    let [left, top, right, bottom] = [0, 0, width - 1, height - 1]
    const old = ${before === undefined ? 'undefined' : `await read('${before}')`}
    if (old) {
      ;[left, top, right, bottom] = [width, height, -1, -1]
      for (let i = 0; i < now.pixels.length; i++) {
        if (now.pixels[i] === old.pixels[i]) continue
        const x = i % width
        const y = (i - x) / width
        left = Math.min(left, x)
        right = Math.max(right, x)
        top = Math.min(top, y)
        bottom = Math.max(bottom, y)
      }
      if (right < 0) return undefined
    }
    left -= left % 2
    top -= top % 2
    const part = document.createElement('canvas')
    part.width = right - left + 1
    part.height = bottom - top + 1
    part.getContext('2d', { alpha: false }).drawImage(now.canvas, -left, -top)
    const webp = part.toDataURL('image/webp', ${quality}).split(',')[1]
    return { webp, x: left, y: top, width: part.width, height: part.height }
  })()`) as Promise<Changed | undefined>
}
