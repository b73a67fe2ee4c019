/** Without loss and delay: the R of the default values of ITU-T G.107. */
const BEST_R = 93.2
/** Robustness against random loss of G.711 with concealment (ITU-T G.113, appendix I); of the others nothing better is published. */
const LOSS_ROBUSTNESS = 25.1
const LOSS_SCALE = 95
/** From here on a delay is felt in a dialogue. */
const FELT_DELAY_MS = 177.3

/**
 * The mean opinion score of a line by the E-model (ITU-T G.107): 1 to 4.5, about 4.4 for a good telephone.
 * @param loss share of packets that never came or came too late, 0 to 1
 * @param delayMs one way, mouth to ear
 */
export function meanOpinionScore(loss: number, delayMs: number): number {
  const delayImpairment = 0.024 * delayMs + (delayMs > FELT_DELAY_MS ? 0.11 * (delayMs - FELT_DELAY_MS) : 0)
  const percent = 100 * loss
  const lossImpairment = (LOSS_SCALE * percent) / (percent + LOSS_ROBUSTNESS)
  const r = BEST_R - delayImpairment - lossImpairment
  if (r <= 0) return 1
  if (r >= 100) return 4.5
  return Math.max(1, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6)
}
