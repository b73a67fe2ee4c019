import { forwardRef, useEffect, useRef } from 'react'
import type { LevelTrace, Side } from '../data/level-trace.ts'

const HEIGHT_PX = 52
const DRAWN_EVERY_MS = 100
/** What speech close to a microphone reaches: the top of the drawing. */
const LOUD = 0.3
const SIDES = [
  ['microphone', '--caller', -1],
  ['agent', '--accent', 1],
] as const

interface LevelsProps {
  levels: LevelTrace
  /** What is called how: the voice above the line, and the one below. */
  above: readonly [label: string, text: string]
  below: readonly [label: string, text: string]
}

/** Two voices of the last seconds: the caller's above the line, the other's below it. */
export function Levels({ levels, above, below }: LevelsProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const upper = useRef<HTMLMeterElement>(null)
  const lower = useRef<HTMLMeterElement>(null)
  useEffect(() => {
    const timer = setInterval(() => {
      if (canvas.current) paint(canvas.current, levels)
      for (const [side, meter] of [['microphone', upper] as const, ['agent', lower] as const]) {
        if (meter.current) meter.current.value = loudness(levels.of(side).at(-1) ?? 0)
      }
    }, DRAWN_EVERY_MS)
    return () => clearInterval(timer)
  }, [levels])
  return (
    <div className="mb-3 rounded-md border border-line px-2.5 py-1.5">
      <canvas className="block w-full" ref={canvas} style={{ height: HEIGHT_PX }} />
      <p className="flex justify-between gap-3 text-xs">
        <Meter label={above[0]} ref={upper} text={above[1]} tone="text-caller" />
        <Meter label={below[0]} ref={lower} text={below[1]} tone="text-accent-ink" />
      </p>
    </div>
  )
}

const Meter = forwardRef<HTMLMeterElement, { label: string; text: string; tone: string }>(function Meter(
  { label, text, tone },
  ref,
) {
  return (
    <span className={tone}>
      {text}
      <meter aria-label={label} className="sr-only" ref={ref} value={0} />
    </span>
  )
})

/** The ear hears loudness by its logarithm; a root is near enough for an eye. */
const loudness = (level: number): number => Math.min(1, Math.sqrt(level / LOUD))

function paint(canvas: HTMLCanvasElement, levels: LevelTrace): void {
  const { clientWidth: width } = canvas
  const to = canvas.getContext('2d')
  if (to === null || width === 0) return
  canvas.width = width * devicePixelRatio
  canvas.height = HEIGHT_PX * devicePixelRatio
  to.scale(devicePixelRatio, devicePixelRatio)
  const style = getComputedStyle(canvas)
  const middle = HEIGHT_PX / 2
  const step = width / levels.kept
  for (const [side, colour, direction] of SIDES as readonly (readonly [Side, string, 1 | -1])[]) {
    to.fillStyle = style.getPropertyValue(colour)
    for (const [back, level] of levels.of(side).toReversed().entries()) {
      const height = Math.max(1, loudness(level) * (middle - 2))
      const x = width - (back + 1) * step
      to.fillRect(x, direction === -1 ? middle - height : middle, Math.max(1, step - 1.5), height)
    }
  }
  to.fillStyle = style.getPropertyValue('--line')
  to.fillRect(0, middle, width, 1)
}
